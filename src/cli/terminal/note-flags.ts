import { userInfo } from 'node:os';

/** Flags of commands that keep who decided, and why. */
export interface NoteFlags {
  readonly reason?: string;
  readonly by?: string;
}

export const byOption = [
  '--by <name>',
  'name of the person who decided (default: the user of this machine)',
] as const;

export function noteOf({ reason, by = userInfo().username }: NoteFlags): {
  readonly by: string;
  readonly reason: string | undefined;
} {
  return { by, reason };
}
