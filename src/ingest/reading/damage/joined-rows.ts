import Papa from 'papaparse';
import type { ByteText } from '../bytes/byte-text.ts';
import { hasHalfQuotes, type RowShape } from './row-shape.ts';

/**
 * Reads rows that another line end than the file's own joins. Example: in a file whose lines end with LF, the line
 * `1,Ann␍2,Bob` has three cells, and is two rows of two cells.
 *
 * @param line as the parser has read it
 * @param newline the other line end
 * @returns undefined if the line is no such rows
 */
export function readJoinedRows(
  line: string,
  { delimiter, newline }: { readonly delimiter: string; readonly newline: '\r' | '\n' },
  { width, continuesCell, hasUnlikeCell }: RowShape,
): ByteText[][] | undefined {
  const text = line.replace(/[\r\n]+$/, '');
  const parser = new Papa.Parser({ delimiter, newline });
  const { data, errors } = parser.parse(text, 0, false) as Papa.ParseResult<ByteText[]>;
  const areRows = data.every(
    (row) => row.length === width && !row.some(hasHalfQuotes) && !(continuesCell(row) && hasUnlikeCell(row)),
  );
  return errors.length === 0 && data.length > 1 && areRows ? data : undefined;
}
