/** The option of every command with a result for programs. */
export const jsonOption = [
  '--json',
  'result as one JSON object on the last line of standard output',
] as const;

export interface JsonFlag {
  readonly json?: boolean;
}
