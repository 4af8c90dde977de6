/** What every command takes that has facts to print. */
export const jsonOption = ['--json', 'facts as one JSON object on the last line of standard output'] as const;

export interface JsonFlag {
  readonly json?: boolean;
}
