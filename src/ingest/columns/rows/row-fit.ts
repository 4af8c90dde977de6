import { parseDomain } from '../../../domain/identity/values/domain-name.ts';
import { parseEmails, parseHashedEmail } from '../../../domain/identity/values/email-address.ts';
import { parseProfileUrl } from '../../../domain/identity/values/profile-url.ts';
import { decodeText, type ByteText } from '../../reading/bytes/byte-text.ts';
import type { ColumnMap } from '../column-map.ts';
import { isNoValue } from './no-value.ts';

/** For each kind of column (address, profile URL, hash, domain): whether a cell is one. */
export function cellParsers(columns: ColumnMap): ReadonlyMap<number, (cell: string) => boolean> {
  const parsers = new Map<number, (cell: string) => boolean>();
  const add = (list: readonly number[], parse: (cell: string) => unknown): void => {
    for (const column of list) parsers.set(column, (cell) => parse(cell) !== undefined);
  };
  add(columns.single.profile_url, parseProfileUrl);
  add(columns.single.hashed_email, parseHashedEmail);
  add(columns.single.domain, parseDomain);
  add(columns.emails, (cell) => parseEmails(cell)[0]);
  return parsers;
}

/**
 * Compares the cells of a record with what their columns are for: addresses, profile URLs, hashes.
 *
 * @returns a function that gives the number of columns, from the left, that are certain to hold what they should;
 *   undefined where a cell contradicts its column. Columns right of the last readable cell are neither certain nor
 *   contradicted.
 */
export function createRowFit(columns: ColumnMap): (cells: readonly ByteText[]) => number | undefined {
  const parsers = cellParsers(columns);
  const domains = new Set(columns.single.domain);
  return (cells) => {
    let certain = 0;
    for (const [column, isReadable] of parsers) {
      const cell = decodeText(cells[column] ?? ('' as ByteText)).trim();
      if (cell === '' || isNoValue(cell)) continue;
      if (isReadable(cell)) certain = Math.max(certain, column + 1);
      // A cell that is no website shows little: people often write the name of the company there.
      else if (!domains.has(column)) return undefined;
    }
    return certain;
  };
}

/** Number of columns up to the last one that a field uses; 0: none. */
export function usedColumns(columns: ColumnMap): number {
  const used = [
    ...Object.values(columns.single).flat(),
    ...columns.emails,
    ...columns.optOuts.map(({ column }) => column),
  ];
  return Math.max(-1, ...used) + 1;
}
