import { formatNumber } from './format.ts';

/** Printable ASCII with single spaces inside: nearly every name and cell, which is tidy already. */
const tidy = /^[!-~]+(?: [!-~]+)*$/;

/** Byte order marks, direction marks and soft hyphens, but not the joiners of Persian and Indic words. */
const invisible = /(?![\u200c\u200d])\p{Cf}/gu;

/**
 * Tidies a column's name: removes byte order marks and characters without a width, Unicode compatibility forms, unusual
 * and repeated spaces, and the `*` of required fields. Keeps letter case, because `Record ID` and `Record Id` are of
 * different CRMs.
 */
export function headerName(raw: string): string {
  const name = tidy.test(raw)
    ? raw
    : raw
        .replace(invisible, '')
        .normalize('NFKC')
        .replace(/[\s\u0085\0]+/g, ' ')
        .trim();
  return name.endsWith('*') ? name.replace(/ ?\*$/, '') : name;
}

const ascii = /^[\0-\x7f]*$/;

/**
 * The key of a column's name, equal for all spellings: `first_name`, `First Name` and `firstName`; `Prénom` and
 * `PRENOM`; `Soyadı` and `SOYADI`.
 */
export function headerKey(raw: string): string {
  const name = headerName(raw).toLowerCase();
  return (ascii.test(name) ? name : foldLetters(name)).replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

/** A column's name for an error or a log: short, on one line, and without half a character, which is no JSON. */
export function shownHeader(raw: string): string {
  const name = headerName(raw);
  return name.length > 60 ? `${name.slice(0, 57).toWellFormed()}...` : name;
}

const mostShown = 20;

/** The names of columns for an error or a log: an export can have thousands, so only the first ones. */
export function shownHeaders(names: readonly string[]): string {
  const shown = names.slice(0, mostShown).map(shownHeader).join(', ');
  return names.length > mostShown ? `${shown} and ${formatNumber(names.length - mostShown)} more` : shown;
}

/** Latin letters that Unicode does not decompose, and that other systems write in ASCII. */
const foldedLetters: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

/**
 * Replaces letters by those that other systems write for them: `é` by `e`, `ß` by `ss`, `ø` by `o`, and the Turkish `ı`
 * by `i`. Of the combining marks only the diacritics of Latin, Greek and Cyrillic are dropped: in Indic and Japanese
 * scripts marks are vowels and consonants.
 *
 * @param lower a text in lower case
 * @returns the text in NFKD
 */
export function decomposeLetters(lower: string): string {
  return lower
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toUpperCase() // ß becomes SS only on the way up
    .toLowerCase()
    .replace(/[øłđðþæœı]/g, (letter) => foldedLetters[letter]!);
}

/** The same in NFC. */
function foldLetters(lower: string): string {
  return decomposeLetters(lower).normalize('NFC');
}
