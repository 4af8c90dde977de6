import { counted } from '../../../domain/text/counted.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { createCellFit, type CellFit } from '../../columns/rows/cell-fit.ts';
import type { ColumnMap } from '../../columns/column-map.ts';
import { headerKey } from '../../../domain/text/header-name.ts';
import { isKnownName } from '../../columns/recognition/is-known-name.ts';
import { createRowFit, usedColumns } from '../../columns/rows/row-fit.ts';
import { encodeText, type ByteText } from '../bytes/byte-text.ts';
import { countCharacter } from '../dialect.ts';
import { usualWidth, type Layout } from '../layout.ts';

/** The form of a row of one export, which distinguishes a damaged record from the rows in it. */
export interface RowShape {
  /** Cells of every row: those of the header, unless all rows prove another number. */
  readonly width: number;
  /** Whether the cells of a line, read on its own, are those of a row. */
  readonly looksLikeRow: (cells: readonly ByteText[]) => boolean;
  /**
   * Whether a cell reads like the rest of the cell before it: text with a delimiter in it, such as `Acme, Inc`, that
   * stands without quotes. A file that writes a space behind every delimiter is no such case.
   */
  readonly continuesCell: (cells: readonly string[]) => boolean;
  /** How cells from one column on, and before another, compare with their columns. */
  readonly fitOf: (cells: readonly ByteText[], from: number, to: number) => CellFit;
  /** Whether a cell contradicts its column, such as a text in a column of addresses. */
  readonly hasUnlikeCell: (cells: readonly ByteText[]) => boolean;
}

/** Share of the first rows that show how rows are written: a few rows may be damaged. */
const almostAll = 0.75;

/**
 * Finds how many cells a row has. Rows may have one surplus cell at their end, or lack the columns without a name, if
 * every row proves it. Otherwise a surplus cell can come from a delimiter inside of a cell, and the row is malformed.
 *
 * @throws Problem `export.ragged` where no row fits the header
 */
export function findRowShape(path: string, { header, rows }: Layout, columns: ColumnMap): RowShape {
  const fit = createRowFit(columns);
  const fitOfCell = createCellFit(columns, rows);
  const spacedRows = rows.map(countSpaced).filter(({ spaced, plain }) => spaced > 0 && plain === 0);
  const isSpacedFile = spacedRows.length * 2 > rows.length;
  const continuesCell = (cells: readonly string[]): boolean => {
    const { spaced, plain } = countSpaced(cells);
    return spaced > 0 && (plain > 0 || !isSpacedFile);
  };
  const shape = (width: number): RowShape => ({
    width,
    continuesCell,
    looksLikeRow: (cells) =>
      cells.length === width &&
      cells.some((cell) => cell.trim() !== '') &&
      !continuesCell(cells) &&
      fit(cells) !== undefined,
    fitOf: (cells, from, to) => {
      const fits = new Set(cells.slice(from, to).map((cell, index) => fitOfCell(cell, from + index)));
      return fits.has('unlike') ? 'unlike' : fits.has('sure') ? 'sure' : 'open';
    },
    hasUnlikeCell: (cells) => fit(cells) === undefined,
  });
  const usual = usualWidth(rows);
  const alike = rows.filter((row) => row.length === usual);
  const isOther = rows.length > 0 && usual !== header.length && alike.length >= rows.length * almostAll;
  if (isOther && !rows.some(continuesCell) && isProven(header, alike, usual, fit, usedColumns(columns)))
    return shape(usual);
  if (rows.length < 2 || rows.some((row) => row.length === header.length)) return shape(header.length);
  throw new UsageProblem(
    'export.ragged',
    alike.length === rows.length
      ? `the header has ${counted(header.length, 'column')}, but the lines below it have ${usual}`
      : `the header has ${counted(header.length, 'column')}, and no line below it has as many`,
    {
      where: `${path}, header`,
      next: 'export it again, or correct the header so that it has a name for each column',
    },
  );
}

/** Cells behind the first that begin with a space, and cells that do not. */
function countSpaced(cells: readonly string[]): { readonly spaced: number; readonly plain: number } {
  let spaced = 0;
  let plain = 0;
  for (let index = 1; index < cells.length; index += 1) {
    const cell = cells[index]!;
    if (cell === '') continue;
    if (!cell.startsWith(' ')) plain += 1;
    else if (cell.trim() !== '') spaced += 1;
  }
  return { spaced, plain };
}

/** A quote without its other half: the cell began further left, or ends further right. */
export function hasHalfQuotes(cell: string): boolean {
  return cell.includes('"') && countCharacter(cell, '"') % 2 === 1;
}

/** Whether the difference between header and rows is at the end of all rows, and nowhere else. */
function isProven(
  header: readonly string[],
  rows: Layout['rows'],
  width: number,
  fit: (cells: readonly ByteText[]) => number | undefined,
  used: number,
): boolean {
  const surplus = rows.flatMap((row) => row.slice(header.length));
  if (![...surplus, ...header.slice(width)].every((cell) => cell.trim() === '')) return false;
  if (header.some(holdsTwoNames)) return false;
  const certain = rows.map((row) => fit(row.map(encodeText)));
  if (certain.includes(undefined)) return false;
  if (rows.length > 1) return true;
  // In a single row the delimiter may stand anywhere right of what is certain, or the row may be two.
  return certain[0]! >= used && !rows[0]!.some(hasHalfQuotes) && width !== 2 * header.length - 1;
}

/** A name that is two known names in one: the delimiter between them is missing, and not at the end. */
function holdsTwoNames(name: string): boolean {
  const key = headerKey(name);
  if (isKnownName(key) || key.length > 60) return false;
  return Array.from({ length: key.length - 1 }, (_, at) => at + 1).some(
    (at) => isKnownName(key.slice(0, at)) && isKnownName(key.slice(at)),
  );
}
