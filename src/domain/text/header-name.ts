import { formatNumber } from './format.ts';

/** Pattern of printable ASCII with single spaces inside. Nearly every header has this form and needs no tidying. */
const tidy = /^[!-~]+(?: [!-~]+)*$/;

/** Pattern of byte order marks, direction marks and soft hyphens. The joiners of Persian and Indic words are kept. */
const invisible = /(?![\u200c\u200d])\p{Cf}/gu;

/**
 * Tidies a column's name: removes byte order marks, characters without a width, repeated spaces, and the `*` of
 * required fields. Letter case stays, because `Record ID` and `Record Id` belong to different CRMs.
 */
export function tidyHeader(raw: string): string {
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

/** Returns a key that is equal for `first_name`, `First Name` and `firstName`, or `Prénom` and `PRENOM`. */
export function headerKey(raw: string): string {
  const name = tidyHeader(raw).toLowerCase();
  const letters = ascii.test(name) ? name : decomposeLetters(name).normalize('NFC');
  return letters.replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

/** Formats a column's name for an error: short, on one line, and without half a surrogate pair. */
export function formatHeader(raw: string): string {
  const name = tidyHeader(raw);
  return name.length > 60 ? `${name.slice(0, 57).toWellFormed()}...` : name;
}

const maxShown = 20;

/** Formats the names of the first columns for an error or a log. An export can have thousands of columns. */
export function formatHeaders(names: readonly string[]): string {
  const shown = names.slice(0, maxShown).map(formatHeader).join(', ');
  return names.length > maxShown ? `${shown} and ${formatNumber(names.length - maxShown)} more` : shown;
}

/** Latin letters that Unicode does not decompose, with the ASCII letters that other systems write for them. */
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
 * Replaces letters by those that other systems write (`é`, `ß`, `ø`, `ı`), and returns NFKD. Only diacritics of Latin,
 * Greek and Cyrillic go: in Indic and Japanese scripts combining marks are vowels and consonants.
 */
export function decomposeLetters(lower: string): string {
  return lower
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toUpperCase() // ß becomes SS only on the way up
    .toLowerCase()
    .replace(/[øłđðþæœı]/g, (letter) => foldedLetters[letter]!);
}
