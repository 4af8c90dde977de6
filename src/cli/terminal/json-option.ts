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
