import { headerKey } from '../../../domain/text/header-name.ts';
import { isKnownName } from './is-known-name.ts';

/** Maximum length of a column's name. */
const longestName = 100;
/** The share of cells that no export is known to have as names of columns: fields of a company's own. */
const mostUnknown = 0.25;

/**
 * Recognises a header below the header: of a file that was put together of several.
 *
 * @returns a function that says `same` where a record repeats the header, in whatever spelling, and `other` where it
 *   has names of columns in another order: then the rows below it have other columns than those above
 */
export function createHeaderCheck(
  names: readonly string[],
): (cells: readonly string[]) => 'same' | 'other' | undefined {
  const header = names.map(headerKey);
  const own = new Set(header.filter((key) => key !== ''));
  const isName = (key: string): boolean => own.has(key) || isKnownName(key);
  return (cells) => {
    let filled = 0;
    let unknown = 0;
    let isSame = true;
    for (const [index, cell] of cells.entries()) {
      if (cell === '' || cell.trim() === '') continue;
      if (cell.length > longestName) return undefined;
      const key = headerKey(cell);
      isSame &&= key !== '' && resembles(key, header[index]);
      if (!isName(key)) unknown += 1;
      filled += 1;
      // Nearly every record ends here, at its first cell.
      if (!isSame && unknown > (filled === 1 ? 0 : cells.length * mostUnknown)) return undefined;
    }
    if (filled < Math.max(own.size === 1 ? 1 : 2, own.size / 2)) return undefined;
    if (isSame) return 'same';
    return filled > 1 && unknown <= filled * mostUnknown ? 'other' : undefined;
  };
}

/** `First` and `first_name` are one. */
function resembles(key: string, name: string | undefined): boolean {
  return name !== undefined && name !== '' && (key.includes(name) || name.includes(key));
}
