/**
 * Two forms of every text. The display form is what a person wrote, tidied: it is what is sent and shown. The
 * comparison form decides whether two texts name the same.
 */

/**
 * Printable ASCII without a space at either end or two in a row: nearly every cell, and there is nothing to do for it.
 */
const tidy = /^[!-~]+(?: [!-~]+)*$/;

/** Control, formatting and lone surrogate characters, but not the joiners that Persian and Indic spelling needs. */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** @returns the text in NFC, with single spaces and nothing invisible; empty where nothing is left */
export function displayForm(text: string): string {
  if (tidy.test(text)) return text;
  return text
    .replace(/[\s\u0085]+/g, ' ')
    .replace(unprintable, '')
    .replace(/ {2,}/g, ' ')
    .trim()
    .normalize('NFC');
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

const plain = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/**
 * What two spellings of one name have in common: NFKD without diacritics, case-folded, apostrophes and points dropped,
 * all other punctuation one space. `Jean-Luc  O’Brién` and `jean luc obrien` have the same.
 *
 * Of the combining marks only the diacritics of Latin, Greek and Cyrillic are dropped: in Indic scripts marks are
 * vowels.
 */
export function comparisonForm(text: string): string {
  const lower = text.toLowerCase();
  if (plain.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toUpperCase() // ß becomes SS only on the way up
    .toLowerCase()
    .replace(/[øłđðþæœı]/g, (letter) => foldedLetters[letter]!)
    .replace(/['’‘ʼ`´.]/g, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

/** What forms and importers write where nothing is known. Exact spellings: Null and Na are real names. */
const placeholders = new Set([
  'n/a',
  'N/A',
  'n.a.',
  'N.A.',
  '#N/A',
  'null',
  'NULL',
  '(null)',
  'nil',
  'none',
  'NONE',
  'undefined',
  'unknown',
  'Unknown',
  'UNKNOWN',
  '(unknown)',
  '[not provided]',
  '[Not Provided]',
  'not provided',
  'Not Provided',
  '(blank)',
  '#REF!',
  '#NAME?',
  '#VALUE!',
]);
const longestPlaceholder = Math.max(...[...placeholders].map((text) => text.length));

function isPlaceholder(name: string): boolean {
  return name.length <= longestPlaceholder && placeholders.has(name);
}

/** The display form of a cell that holds a name or a company; undefined where it holds no letter or a placeholder. */
export function parseName(cell: string): string | undefined {
  const name = displayForm(cell);
  if (name === '' || name.length > longestName || isPlaceholder(name)) return undefined;
  return /[A-Za-z]/.test(name) || /\p{L}/u.test(name) ? name : undefined;
}

/** Longer than any name of a person or a company: a note in the wrong column. */
const longestName = 300;

/** Written by people who have no employer: says nothing of who they are. */
const noEmployer = /^(?:self[ -]?employed|freelancer?|retired|unemployed|student|private)$/i;

/** The display form of an employer's name; a company may be called `3M` or `1-800-4`, so digits will do. */
export function parseOrganizationName(cell: string): string | undefined {
  const name = displayForm(cell);
  if (name === '' || name.length > longestName || isPlaceholder(name)) return undefined;
  if (noEmployer.test(name)) return undefined;
  return /[A-Za-z0-9]/.test(name) || /[\p{L}\p{N}]/u.test(name) ? name : undefined;
}

const legalForms = new Set(
  (
    'inc incorporated llc llp lp ltd limited corp corporation co company plc pc pty pvt private pte sdn ' +
    'bhd gmbh ag kg kgaa ohg mbh ug ev eg se sa sas sasu sarl eurl srl srls spa sl slu ltda eireli bv ' +
    'nv vof cv ab as asa aps oy oyj hf ehf kft zrt doo dd sro spzoo jsc ooo pao oao kk gk'
  ).split(' '),
);

/**
 * What two spellings of one organization's name have in common: its comparison form without a leading article and
 * without legal forms at the end, and with `&` as the word it is read as. `The Acme Co., Ltd.` and `ACME` have the
 * same.
 */
export function organizationForm(name: string): string {
  const compared = comparisonForm(name.replaceAll('&', ' and '))
    .replace(/ a s$/, '')
    .replace(/ sp z o ?o$/, '');
  const words = compared.split(' ');
  if (words.length > 1 && words[0] === 'the') words.shift();
  while (words.length > 1 && (legalForms.has(words.at(-1)!) || words.at(-1) === 'and')) words.pop();
  return words.join(' ');
}
