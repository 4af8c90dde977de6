import { crmExports, expand, labels } from '../../domain/crm/crm.ts';
import { comparisonForm } from '../../domain/identity/values/normalise.ts';
import { headerKey, headerName } from '../../domain/text/header-name.ts';
import type { ContactField } from './fields.ts';
import headers from './headers.json' with { type: 'json' };

/** Forms use whole sentences of consent as names; what a column is about is said before this. */
const longestSentence = 1_000;

/** The words of a column's name in the comparison form, with a space before and behind each: ` do not call `. */
export function headerWords(header: string): string {
  const words = headerName(header)
    .slice(0, longestSentence)
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  return ` ${wordForm(words)} `;
}

/** The form in which words of headers and answers are compared. */
export const wordForm = (text: string): string => comparisonForm(text).normalize('NFC');

/**
 * Compiles patterns, which are words in any spelling. `…` stands for any text, `^` and `$` for the beginning and the
 * end of the name: `do not call…` fits ` do not call at home `, `…sperre` fits ` kundensperre `, and `^deleted$` does
 * not fit ` deleted by `. The words may also stand without spaces: `DONOTCALL`.
 *
 * @returns whether one of the patterns fits words as `headerWords` writes them
 */
export function patternTest(patterns: readonly string[]): (words: string) => boolean {
  const sources = new Set(patterns.flatMap(sourcesOf));
  const pattern = new RegExp([...sources].join('|'), 'u');
  return (words) => pattern.test(words);
}

function sourcesOf(pattern: string): string[] {
  const parts = pattern
    .replace(/^\^|\$$/g, '')
    .split('…')
    .map(wordForm);
  const begin = pattern.startsWith('^') ? '^ ' : parts[0] === '' ? '' : ' ';
  const end = pattern.endsWith('$') ? ' $' : parts.at(-1) === '' ? '' : '(?= )';
  const spaced = parts.filter((part) => part !== '').join('.*');
  return [spaced, spaced.replaceAll(' ', '')].map((text) => `${begin}${text}${end}`);
}

const lists = { ...labels, ...headers.lists };
const keysOf = (list: readonly string[]): ReadonlySet<string> => new Set(expand(list, lists).map(headerKey));

const fieldHeaders: Readonly<Record<ContactField, readonly string[]>> = headers.fields;

/** Headers of each field in an export of any program, the best first. */
export const commonHeaders = Object.fromEntries(
  Object.entries(fieldHeaders).map(([field, list]) => [field, expand(list, lists)]),
) as unknown as Readonly<Record<ContactField, readonly string[]>>;

/** Keys of columns that hold first names beside a column of last names, and otherwise whole names. */
export const firstOrWholeNames = keysOf(['{first_or_whole_name}']);
/** Keys of columns that hold last names beside a column of first names, and otherwise whole names. */
export const lastOrWholeNames = keysOf(['{last_or_whole_name}']);

const otherKeys = keysOf(headers.others);
let fieldsByKey: ReadonlyMap<string, readonly string[]> | undefined;

/** Computed once, when a name is looked up: the keys take ten milliseconds, and most commands read no export. */
function knownFields(): ReadonlyMap<string, readonly string[]> {
  if (fieldsByKey) return fieldsByKey;
  const found = new Map<string, string[]>();
  for (const fields of [commonHeaders, ...crmExports.map((each) => each.fields)])
    for (const [field, list] of Object.entries(fields))
      for (const key of new Set(list.map(headerKey))) found.set(key, [...(found.get(key) ?? []), field]);
  fieldsByKey = found;
  return found;
}

/**
 * Whether exports are known to have a column of this name, also one that no field is read from.
 *
 * @param key of the name, by `headerKey`
 */
export function isKnownName(key: string): boolean {
  return otherKeys.has(key) || knownFields().has(key);
}

/** The fields of a contact that a column of this name can hold. @param key of the name, by `headerKey` */
export function fieldsNamed(key: string): readonly string[] {
  return knownFields().get(key) ?? [];
}

/** Number of columns that identify the object of an export: a file of contacts can have one of them. */
const enoughOfObject = 2;

/** The kind of objects in an export, by its columns; undefined: it can be an export of contacts. */
export function otherObjectOf(header: readonly string[]): 'companies' | 'deals' | undefined {
  const keys = [...new Set(header.map(headerKey))];
  const count = (list: readonly string[]): number => {
    const known = keysOf(list);
    return keys.filter((key) => known.has(key)).length;
  };
  if (count(headers.onlyOfPeople) > 0) return undefined;
  const [deals, companies] = [count(headers.objects.deals), count(headers.objects.companies)];
  if (Math.max(deals, companies) < enoughOfObject) return undefined;
  return companies > deals ? 'companies' : 'deals';
}
