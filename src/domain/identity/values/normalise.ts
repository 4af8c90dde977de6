import { decodeHTMLStrict } from 'entities/decode';
import { decomposeLetters } from '../../text/header-name.ts';
import lists from './words.json' with { type: 'json' };

/**
 * Every text has two forms. The display form is the tidied original, for sending and showing. The comparison form is
 * the same for texts that mean the same.
 */

/** Pattern of printable ASCII with single spaces inside. Nearly every cell has this form and needs no tidying. */
const tidy = /^[!-~]+(?: [!-~]+)*$/;

/** Pattern of unprintable characters, without the joiners that Persian and Indic spelling needs. */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** Pattern of `="4001"`, the form in which a spreadsheet program stores digits as text. */
const asText = /^="([^"]*)"$|^=/;

/** Tidies a text for sending and showing: NFC, single spaces, no invisible characters; may be empty. */
export function displayForm(text: string): string {
  if (text.startsWith('="')) return displayForm(text.replace(asText, '$1'));
  if (tidy.test(text)) return text;
  return text
    .replace(/[\s\u0085]+/g, ' ')
    .replace(unprintable, '')
    .replace(/ {2,}/g, ' ')
    .trim()
    .normalize('NFC');
}

/** Pattern of texts that are already in comparison form. */
const plain = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/** Returns a form that is equal for all spellings of a name: `Jean-Luc  O’Brién` becomes `jean luc obrien`. */
export function comparisonForm(text: string): string {
  const lower = text.toLowerCase();
  if (plain.test(lower)) return lower;
  return decomposeLetters(lower)
    .replace(/['’‘ʼ`´.]/g, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

/** Placeholders for unknown values, in exactly this spelling, because Null and Na are real names. */
const placeholders = new Set(lists.placeholders);
/** Pattern of a spreadsheet program's text for a failed formula in its language: `#REF!`, `#BEZUG!`, `#¿NOMBRE?`. */
const formulaError = /^#[¡¿]?\p{Lu}[\p{Lu}\d/]{1,15}[!?]$/u;

/**
 * True if a name in display form stands for a missing one, such as `unknown`, `n/a`, or the text that a spreadsheet
 * program shows for a failed formula (`#REF!`).
 */
export function isPlaceholder(name: string): boolean {
  return placeholders.has(name) || (name.startsWith('#') && formulaError.test(name));
}

/** Decodes HTML entities such as `Berg &amp; S&ouml;hne`. Web forms escape texts like this, and some CRMs keep them. */
function unescaped(cell: string): string {
  return cell.includes('&') ? decodeHTMLStrict(cell) : cell;
}

/** Pattern of an e-mail in brackets after a name: `<ada@acme.example>`. */
const addressBehind = / ?[<([]\S+@\S+[>)\]]$/;
const addressWithin = /\S@\S+\.\S/;

/** Reads a name; undefined without a letter, for a placeholder, and for an e-mail, which fills required fields. */
export function parseName(cell: string): string | undefined {
  const text = displayForm(unescaped(cell));
  if (text === '' || text.length > longestName || isPlaceholder(text)) return undefined;
  const name = text.includes('@') ? text.replace(addressBehind, '') : text;
  if (name.includes('@') && addressWithin.test(name)) return undefined;
  return /[A-Za-z]/.test(name) || /\p{L}/u.test(name) ? name : undefined;
}

/** Pattern of a form of address before a name, without `M.`, `Don` and `Pan`, which can be initials or names. */
const formOfAddress = new RegExp(`^(?:${lists.formsOfAddress.join('|')})\\.? (?=\\S)`, 'u');

/** Pattern of a form of address after a name: `山田太郎様`, `王伟先生`, `김민수 님`. */
const formOfAddressBehind =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{2}) ?(?:様|さま|さん|殿|先生|女士|小姐|님|씨)$/u;

/** Pattern of a last name with particles, a comma, and first names: `Novak, Ada Maria` and `van der Berg, A.` */
const lastNameFirst =
  /^((?:\p{Ll}[\p{L}\p{M}'’]* )*[\p{L}\p{M}'’-]+) ?, ?([\p{L}\p{M}'’-]+\.?(?: [\p{L}\p{M}'’-]+\.?)*)$/u;

/** Reads a full name, without form of address, first name first; undefined if the cell has no name. */
export function parseFullName(cell: string): string | undefined {
  const name = parseName(cell)?.replace(formOfAddress, '').replace(formOfAddressBehind, '');
  const [, last, first] = (name?.includes(',') && lastNameFirst.exec(name)) || [];
  return first === undefined ? name : `${first.replace(formOfAddress, '')} ${last}`;
}

/** Maximum length of a name. A longer text is a note in the wrong column. */
const longestName = 300;

/** Pattern of texts that mean that a person has no employer. These texts identify nobody. */
const noEmployer = new RegExp(`^(?:${lists.noEmployer.join('|')})$`, 'iu');

/** Reads an employer's name, the first of several (`Acme;Orbit`), even of digits: `3M`, `1-800-4`. */
export function parseOrganizationName(cell: string): string | undefined {
  const text = unescaped(cell);
  const name = displayForm(
    text.includes(';') ? (text.split(';').find((part) => part.trim() !== '') ?? '') : text,
  );
  if (name === '' || name.length > longestName || isPlaceholder(name)) return undefined;
  if (noEmployer.test(name)) return undefined;
  return /[A-Za-z0-9]/.test(name) || /[\p{L}\p{N}]/u.test(name) ? name : undefined;
}

const legalForms = new Set(lists.legalForms);

/** Returns the same form for `The Acme Co., Ltd.` and `ACME`: without article and legal form, `and` for `&`. */
export function organizationComparisonForm(name: string): string {
  const compared = comparisonForm(name.replaceAll('&', ' and '))
    .replace(/ a s$/, '')
    .replace(/ sp z o ?o$/, '');
  const words = compared.split(' ');
  if (words.length > 1 && words[0] === 'the') words.shift();
  while (words.length > 1 && (legalForms.has(words.at(-1)!) || words.at(-1) === 'and')) words.pop();
  return words.join(' ');
}
