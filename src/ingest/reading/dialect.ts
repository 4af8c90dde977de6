/** How records and cells are separated. */
export interface Dialect {
  readonly delimiter: string;
  /** `mixed`: CR alone ends some lines and LF others. CRLF and LF may alternate in any case. */
  readonly lineEnds: 'LF' | 'CRLF' | 'CR' | 'mixed';
  /** Quotes are ordinary characters and enclose no cells. */
  readonly quotes?: 'none' | undefined;
}

/** Delimiters that need no mapping file. */
export const usualDelimiters: readonly string[] = [',', ';', '\t', '|'];

/** The character that ends every line; with CRLF the other one is taken off later. */
export function lineBreakOf({ lineEnds }: Pick<Dialect, 'lineEnds'>): '\r' | '\n' {
  return lineEnds === 'CR' ? '\r' : '\n';
}

/** Counts a character in a text, up to a position. */
export function countCharacter(text: string, character: string, end = text.length): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && at < end; at = text.indexOf(character, at + 1))
    count += 1;
  return count;
}
