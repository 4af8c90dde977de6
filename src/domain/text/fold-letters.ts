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
export function foldLetters(lower: string): string {
  return decomposeLetters(lower).normalize('NFC');
}
