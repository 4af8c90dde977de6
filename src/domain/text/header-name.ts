import { formatNumber } from './format-number.ts';

/** Printable ASCII with single spaces inside: nearly every name and cell, which is tidy already. */
const tidy = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Tidies a column's name: removes byte order marks and characters without a width, Unicode compatibility forms, unusual
 * and repeated spaces, and the `*` of required fields. Keeps letter case, because `Record ID` and `Record Id` are of
 * different CRMs.
 */
export function headerName(raw: string): string {
  const name = tidy.test(raw)
    ? raw
    : raw
        .replace(/[\ufeff\u200b\u200e\u200f\u2060]/g, '')
        .normalize('NFKC')
        .replace(/[\s\u0085\0]+/g, ' ')
        .trim();
  return name.endsWith('*') ? name.replace(/ ?\*$/, '') : name;
}

/** The key of a column's name, equal for all spellings: `first_name`, `First Name` and `firstName`. */
export function headerKey(raw: string): string {
  return headerName(raw)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

/** A column's name for an error or a log: short, and on one line. */
export function shownHeader(raw: string): string {
  const name = headerName(raw);
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}

const mostShown = 20;

/** The names of columns for an error or a log: an export can have thousands, so only the first ones. */
export function shownHeaders(names: readonly string[]): string {
  const shown = names.slice(0, mostShown).map(shownHeader).join(', ');
  return names.length > mostShown ? `${shown} and ${formatNumber(names.length - mostShown)} more` : shown;
}
