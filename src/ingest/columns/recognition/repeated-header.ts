import { decodeText, type ByteText } from '../../reading/bytes/byte-text.ts';
import { headerKey } from '../../../domain/text/header-name.ts';
import { isKnownName } from './is-known-name.ts';

/** Maximum length of a column's name. */
const longestName = 100;

/**
 * Recognises a header below the header: of a file that was put together of several.
 *
 * @returns a function that says `same` where a record repeats the header, in whatever spelling, and `other` where its
 *   cells are names of columns in another order: then the rows below it have other columns than those above
 */
export function createHeaderCheck(
  names: readonly string[],
): (cells: readonly ByteText[]) => 'same' | 'other' | undefined {
  const header = names.map(headerKey);
  const own = new Set(header.filter((key) => key !== ''));
  const isName = (key: string): boolean => own.has(key) || isKnownName(key);
  return (cells) => {
    let filled = 0;
    let isSame = true;
    let isOther = true;
    for (const [index, cell] of cells.entries()) {
      if (cell === '' || cell.trim() === '') continue;
      if (cell.length > longestName) return undefined;
      const key = headerKey(decodeText(cell));
      isSame &&= key !== '' && resembles(key, header[index]);
      isOther &&= isName(key);
      if (!isSame && !isOther) return undefined;
      filled += 1;
    }
    if (filled < Math.max(own.size === 1 ? 1 : 2, own.size / 2)) return undefined;
    if (isSame) return 'same';
    return filled > 1 ? 'other' : undefined;
  };
}

/** `First` and `first_name` are one. */
function resembles(key: string, name: string | undefined): boolean {
  return name !== undefined && name !== '' && (key.includes(name) || name.includes(key));
}
