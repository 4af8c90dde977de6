import { decodeText, type ByteText } from '../../reading/bytes/byte-text.ts';
import type { ColumnMap } from '../column-map.ts';
import { isPlainAnswer } from '../opt-outs/opt-out-answers.ts';
import { isNoValue } from './no-value.ts';
import { cellParsers } from './row-fit.ts';

/**
 * How a cell compares with what its column holds:
 *
 * - `sure`: an address or profile URL in its column, or an id like the other ids.
 * - `unlike`: another thing than the column holds in other rows.
 * - `open`: the cell may be of the column or not.
 */
export type CellFit = 'sure' | 'unlike' | 'open';

/** So many of the first rows show what a column holds: some of them may be damaged. */
const almostAll = 0.75;

/**
 * Compares single cells with their columns, by the first rows of the export.
 *
 * A cell is unlike its column if it is no address, profile URL or hash in a column of these; if it begins with a blank
 * and others do not; if it is an opt-out that no other row has and that is no plain answer; or if it is an id and the
 * others have digits only, no blanks, or another length.
 */
export function createCellFit(
  columns: ColumnMap,
  rows: readonly (readonly string[])[],
): (cell: ByteText, column: number) => CellFit {
  const parsers = cellParsers(columns);
  const ids = new Set([...columns.single.contact_id, ...columns.single.person_id]);
  const optOuts = new Set(columns.optOuts.map(({ column }) => column));
  const held = new Map<number, Held>();
  const heldBy = (column: number): Held => {
    const known = held.get(column) ?? summarise(rows.map((row) => row[column] ?? ''));
    held.set(column, known);
    return known;
  };
  return (bytes, column) => {
    const written = decodeText(bytes);
    const cell = written.trim();
    const others = heldBy(column);
    if (cell === '') return ids.has(column) && others.isFilled ? 'unlike' : 'open';
    if (written.startsWith(' ') && !others.beginsWithBlank) return 'unlike';
    if (isNoValue(cell)) return 'open';
    const isReadable = parsers.get(column);
    if (isReadable) return isReadable(cell) ? 'sure' : 'unlike';
    if (ids.has(column)) return idFit(cell, others);
    if (optOuts.has(column) && !isPlainAnswer(cell) && (others.counts.get(cell) ?? 0) < 2) return 'unlike';
    return 'open';
  };
}

/** What a column holds in the first rows. */
interface Held {
  readonly counts: ReadonlyMap<string, number>;
  readonly isFilled: boolean;
  readonly beginsWithBlank: boolean;
  readonly hasOnlyDigits: boolean;
  readonly hasNoBlanks: boolean;
  /** Of almost all cells; undefined where they have several. */
  readonly length: number | undefined;
}

function summarise(cells: readonly string[]): Held {
  const filled = cells.filter((cell) => cell.trim() !== '');
  const trimmed = filled.map((cell) => cell.trim());
  const areAlmostAll = (list: readonly string[], test: (cell: string) => boolean): boolean =>
    list.length > 0 && list.filter(test).length >= list.length * almostAll;
  const lengths = trimmed.map((cell) => cell.length).toSorted((one, other) => one - other);
  const middle = lengths[lengths.length >> 1];
  return {
    counts: countEach(trimmed),
    isFilled: filled.length >= cells.length * almostAll,
    beginsWithBlank: !areAlmostAll(filled, (cell) => !cell.startsWith(' ')),
    hasOnlyDigits: areAlmostAll(trimmed, isNumber),
    hasNoBlanks: areAlmostAll(trimmed, (cell) => !cell.includes(' ')),
    length: areAlmostAll(trimmed, (cell) => cell.length === middle) ? middle : undefined,
  };
}

function idFit(cell: string, others: Held): CellFit {
  if (others.hasOnlyDigits) return isNumber(cell) ? 'sure' : 'unlike';
  if (others.hasNoBlanks && cell.includes(' ')) return 'unlike';
  if (others.length === undefined) return 'open';
  return cell.length === others.length ? 'sure' : 'unlike';
}

const isNumber = (cell: string): boolean => /^\d+$/.test(cell);

function countEach(cells: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  return counts;
}
