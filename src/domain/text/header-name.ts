/**
 * A column's name as the CRM writes it, tidied only of what travels badly: byte order mark, compatibility forms, odd or
 * doubled spaces, the `*` of required fields. Letter case stays: `Record ID` and `Record Id` are two CRMs.
 */
export function headerName(raw: string): string {
  return raw
    .replaceAll('\ufeff', '')
    .normalize('NFKC')
    .replace(/[\s\u0085\0]+/g, ' ')
    .trim()
    .replace(/ ?\*$/, '');
}

/** What is left of a column's name however it is spelled: `first_name`, `First Name` and `firstName` are one. */
export function headerKey(raw: string): string {
  return headerName(raw)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

/** A column's name fit for an error or a log: short, and on one line. */
export function shownHeader(raw: string): string {
  const name = headerName(raw);
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}
