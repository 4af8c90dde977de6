import { decodeHTMLStrict } from 'entities/decode';
import { decomposeLetters } from '../../text/header-name.ts';
import { listed } from '../../text/format.ts';

/**
 * Two forms of every text. The display form is the tidied original, which is sent and shown. The comparison form
 * decides whether two texts mean the same.
 */

/** Printable ASCII with single spaces inside: nearly every cell, which is tidy already. */
const tidy = /^[!-~]+(?: [!-~]+)*$/;

/** Control, formatting and lone surrogate characters, but not the joiners that Persian and Indic spelling needs. */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** `="4001"`: how a spreadsheet program keeps digits as a text. */
const asText = /^="([^"]*)"$|^=/;

/** @returns the text in NFC, with single spaces and nothing invisible; empty where nothing is left */
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

const plain = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/**
 * The comparison form, equal for spellings of the same name: NFKD without diacritics, case-folded, without apostrophes
 * and points, other punctuation as one space. `Jean-Luc  O’Brién` and `jean luc obrien` have the same form.
 */
export function comparisonForm(text: string): string {
  const lower = text.toLowerCase();
  if (plain.test(lower)) return lower;
  return decomposeLetters(lower)
    .replace(/['’‘ʼ`´.]/g, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

/** Placeholders that forms and importers write for unknown values. Exact spellings: Null and Na are real names. */
const placeholders = new Set(
  listed(`
    n/a, N/A, n.a., N.A., #N/A, null, NULL, (null), nil, none, NONE, undefined, unknown, Unknown, UNKNOWN, (unknown),
    [not provided], [Not Provided], not provided, Not Provided, (blank), k.A., k. A., keine Angabe, Keine Angabe,
    unbekannt, Unbekannt, nicht angegeben, inconnu, Inconnu, inconnue, non renseigné, Non renseigné, desconocido,
    Desconocido, desconocida, sin datos, no disponible, desconhecido, Desconhecido, sconosciuto, Sconosciuto, onbekend,
    Onbekend, n.v.t., nieznany, Nieznany, okänd, Okänd, ukjent, Ukjent, ukendt, Ukendt, tuntematon, neznámý, ismeretlen,
    necunoscut, bilinmiyor, неизвестно, Неизвестно, нет данных, невідомо, 不明, 未設定, 該当なし, なし, 未知, 暂无, 없음, 미정,
    #NV, #N/D, #N/B, #I/T, #YOK, #Н/Д`),
);
/** What a spreadsheet program shows of a formula that fails, in its language: `#REF!`, `#BEZUG!`, `#¿NOMBRE?`. */
const formulaError = /^#[¡¿]?\p{Lu}[\p{Lu}\d/]{1,15}[!?]$/u;
const longestPlaceholder = Math.max(...[...placeholders].map((text) => text.length));

export function isPlaceholder(name: string): boolean {
  return (
    (name.length <= longestPlaceholder && placeholders.has(name)) ||
    (name.startsWith('#') && formulaError.test(name))
  );
}

/** `Berg &amp; S&ouml;hne`, `O&#39;Brien`: how web forms escape a text, which some CRMs keep. */
function unescaped(cell: string): string {
  return cell.includes('&') ? decodeHTMLStrict(cell) : cell;
}

/** `<ada@acme.example>` behind a name. */
const addressBehind = / ?[<([]\S+@\S+[>)\]]$/;
const addressWithin = /\S@\S+\.\S/;

/**
 * The display form of a cell that holds the name of a person; undefined without a letter, for a placeholder, and for an
 * address, which people write into a field of names that must be filled.
 */
export function parseName(cell: string): string | undefined {
  const text = displayForm(unescaped(cell));
  if (text === '' || text.length > longestName || isPlaceholder(text)) return undefined;
  const name = text.includes('@') ? text.replace(addressBehind, '') : text;
  if (name.includes('@') && addressWithin.test(name)) return undefined;
  return /[A-Za-z]/.test(name) || /\p{L}/u.test(name) ? name : undefined;
}

/** `Novak, Ada Maria` and `van der Berg, A.`: a last name of one word with its particles, and then first names. */
const lastNameFirst =
  /^((?:\p{Ll}[\p{L}\p{M}'’]* )*[\p{L}\p{M}'’-]+) ?, ?([\p{L}\p{M}'’-]+\.?(?: [\p{L}\p{M}'’-]+\.?)*)$/u;
/** `PhD` and `CPA`: the last letter or two neighbours are capitals. */
const degree = /\p{L}\p{Lu}$|\p{Lu}\p{Lu}/u;
const suffixes = new Set(listed('jr, sr, ii, iii, iv, esq, phd, md, mba, cpa, cfa, rn, jd, llm, msc, bsc'));

/** Two parts with one comma between them. */
const twoParts = /^([^,]*\p{L}[^,]*?) ?, ?([^,]*\p{L}[^,]*)$/u;

/** Forms of address before a name. `M.`, `Don` and `Pan` are missing: they are also initials and names. */
const formOfAddress = new RegExp(
  `^(?:${[
    'Mrs?|Ms|Miss|Mx|Sir|Madam|Herrn?|HERRN?|Frau|FRAU|Fräulein|Hrn?\\.|Fr\\.|Monsieur|MONSIEUR|Madame|MADAME',
    'Mademoiselle|Mme|Mlle|Sra?\\.|Srta\\.?|Señora?|Señorita|Doña|Senhora?|Sig(?:\\.ra|\\.na)?\\.?|Signora?|Signorina',
    '[Dd]e [Hh]eer|Dhr\\.?|[Dd]hr\\.?|Mevr\\.?|[Mm]evrouw|Mw\\.|Meneer|Fru|Fröken|Pani|Paní',
  ].join('|')})\\.? (?=\\S)`,
  'u',
);
/** The same behind a name: `山田太郎様`, `王伟先生`, `김민수 님`. */
const formOfAddressBehind =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{2}) ?(?:様|さま|さん|殿|先生|女士|小姐|님|씨)$/u;

/**
 * The display form of a cell that holds a whole name, with the first name first and without a form of address.
 *
 * @param isLastNameFirst the column has last names first: a comma behind several words ends the last name
 */
export function parseFullName(cell: string, isLastNameFirst = false): string | undefined {
  const name = parseName(cell)?.replace(formOfAddress, '').replace(formOfAddressBehind, '');
  const form = isLastNameFirst ? twoParts : lastNameFirst;
  const [, last, first] = (name?.includes(',') && form.exec(name)) || [];
  if (last === undefined || first === undefined) return name;
  const isInCapitals = last === last.toUpperCase() && last !== last.toLowerCase();
  const isSuffix = first
    .split(' ')
    .some(
      (word) => suffixes.has(word.replace('.', '').toLowerCase()) || (!isInCapitals && degree.test(word)),
    );
  return isSuffix ? name : `${first.replace(formOfAddress, '')} ${last}`;
}

/** Most cells of a column show its order. */
const most = 0.75;
/** A column of names with titles, as in `Ada Novak, Engineer`, has fewer cells that show an order. */
const fewestShown = 0.25;

/**
 * Whether a column of whole names has last names first, as in `García López, María`: most cells have one comma, and at
 * least a quarter of these have a single word before it, or a name behind it that is also in the person's address.
 *
 * @param rows name and address of each row
 */
export function hasLastNamesFirst(
  rows: readonly { readonly name: string; readonly address: string }[],
): boolean {
  const filled = rows.flatMap(({ name: cell, address }) => {
    const name = parseName(cell);
    return name === undefined ? [] : [{ name, address }];
  });
  const inParts = filled.filter(({ name }) => twoParts.test(name));
  const shown = inParts.filter(({ name, address }) => {
    const user = comparisonForm(address.split('@')[0]!);
    const first = comparisonForm(name.split(',')[1]!).split(' ');
    return lastNameFirst.test(name) || first.some((word) => word.length > 2 && user.includes(word));
  });
  return (
    inParts.length > 0 &&
    inParts.length >= filled.length * most &&
    shown.length >= inParts.length * fewestShown
  );
}

/** A longer text is no name of a person or a company, but a note in the wrong column. */
const longestName = 300;

/** Texts of people without an employer, which identify no person. */
const noEmployer = new RegExp(
  `^(?:${[
    'self[ -]?employed|freelancer?|retired|unemployed|student|private',
    'privat|privat(?:person|kund(?:e|in))|selbstst?ändig(?:er?)?|freiberufl(?:er|erin|ich)|rentner(?:in)?|arbeitslos',
    'studentin|indépendante?|particulier|retraitée?|étudiante?|sans emploi|autónom[oa]|particular|jubilad[oa]',
    "estudiante|desemplead[oa]|autônom[oa]|aposentad[oa]|privato|libero professionista|pensionat[oa]|zzp[’']?er",
    'gepensioneerd|particuliere?|個人|個人事業主|自営業|フリーランス|无业|个人|自由职业|退休|개인|프리랜서',
  ].join('|')})$`,
  'iu',
);

/**
 * The display form of an employer's name, of several the first: `Acme;Orbit`. Digits suffice: companies are called `3M`
 * or `1-800-4`.
 */
export function parseOrganizationName(cell: string): string | undefined {
  const text = unescaped(cell);
  const name = displayForm(
    text.includes(';') ? (text.split(';').find((part) => part.trim() !== '') ?? '') : text,
  );
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
 * The comparison form of an organization's name, without a leading article and legal forms at the end, and with `and`
 * for `&`. `The Acme Co., Ltd.` and `ACME` have the same form.
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
