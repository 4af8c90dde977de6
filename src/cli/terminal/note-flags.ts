import { userInfo } from 'node:os';
import { Option } from 'commander';
import type { Note } from '../../domain/note.ts';
import { withoutPerson } from './without-person.ts';

/** Flags of commands that keep who decided, and why. */
export interface NoteFlags {
  readonly reason?: string;
  readonly by?: string;
}

/**
 * The flag `--reason`. The warehouse or Temporal keeps the reason, so it must not name a person.
 *
 * @param byDefault the reason without the flag
 */
export function reasonOption(description: string, byDefault?: string): Option {
  const next = 'write a reason without personal data, such as the number of a ticket';
  return new Option('--reason <text>', description)
    .default(byDefault)
    .argParser((text: string) => withoutPerson(text, { what: 'this reason', where: '--reason', next }));
}

export const byOption = [
  '--by <name>',
  'name of the person who decided (default: the user of this machine)',
] as const;

export function noteOf({ reason, by = userInfo().username }: NoteFlags): Note {
  return { by, reason };
}
