import { userInfo } from 'node:os';
import { Option, InvalidArgumentError } from 'commander';
import type { Note } from '../../domain/note.ts';
import { withoutPerson } from './without-person.ts';

/** The option of every command with a result for programs. */
export const jsonOption = [
  '--json',
  'result as one JSON object on the last line of standard output',
] as const;

/** The same of a command that prints a list. */
export const jsonArrayOption = [
  '--json',
  'result as one JSON array on the last line of standard output',
] as const;

export interface JsonFlag {
  readonly json?: boolean;
}

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

/**
 * Makes the parser of a flag that takes a whole number. A mistyped number must not become the default.
 *
 * @throws InvalidArgumentError that commander shows with the name of the flag; exit code 2
 */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `from ${minimum} to ${maximum}`;
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`Write a whole number, ${range}.`);
  };
}

/** Reads a flag that takes a share from 0 to 1, such as `0.82`. @throws InvalidArgumentError */
export function share(text: string): number {
  const number = /^(?:\d+|\d*\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError('Write a share from 0 to 1, such as 0.82.');
}
