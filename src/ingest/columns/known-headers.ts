import { crmExports, expandPlaceholders, headersByField } from '../../domain/crm/crm.ts';
import { comparisonForm } from '../../domain/identity/values/normalise.ts';
import { headerKey, tidyHeader } from '../../domain/text/header-name.ts';
import type { ContactField } from './fields.ts';
import headers from './headers.json' with { type: 'json' };

/** Maximum characters read of a header: forms use whole consent sentences, which show their topic earlier. */
const longestSentence = 1_000;

/** Returns the words of a header in their comparison form, each between spaces, such as ` do not call `. */
export function headerWords(header: string): string {
  const words = tidyHeader(header)
    .slice(0, longestSentence)
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  return ` ${wordForm(words)} `;
}

/** Returns a text in the form in which words of headers and answers are compared. */
export const wordForm = (text: string): string => comparisonForm(text).normalize('NFC');

/**
 * Compiles patterns of words. `…` is any text; `^` and `$` are beginning and end: `do not call…` matches ` do not call
 * at home `, `…sperre` matches ` kundensperre `. Spaces may be missing (`DONOTCALL`).
 *
 * @returns a function that tests words from `headerWords`
 */
export function compileHeaderPatterns(patterns: readonly string[]): (words: string) => boolean {
  const sources = new Set(patterns.flatMap(sourcesOf));
  const pattern = new RegExp([...sources].join('|'), 'u');
  return (words) => pattern.test(words);
}

/** Returns two regular expressions for a pattern: one with its spaces, one without. */
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

const lists = { ...headersByField, ...headers.lists };
const keysOf = (list: readonly string[]): ReadonlySet<string> =>
  new Set(expandPlaceholders(list, lists).map(headerKey));

const fieldHeaders: Readonly<Record<ContactField, readonly string[]>> = headers.fields;

/** Headers of each field in exports of any program. The best header comes first. */
export const commonHeaders = Object.fromEntries(
  Object.entries(fieldHeaders).map(([field, list]) => [field, expandPlaceholders(list, lists)]),
) as unknown as Readonly<Record<ContactField, readonly string[]>>;

/** Keys of headers with a part of the name if another column has the other part, and full names otherwise. */
export const firstOrWholeNames = keysOf(['{first_or_whole_name}']);
export const lastOrWholeNames = keysOf(['{last_or_whole_name}']);

const otherKeys = keysOf(headers.others);
let fieldsByKey: ReadonlyMap<string, readonly string[]> | undefined;

/** Computes the fields by header key at the first use: it takes ten milliseconds, and most commands read no export. */
function knownFields(): ReadonlyMap<string, readonly string[]> {
  if (fieldsByKey) return fieldsByKey;
  const found = new Map<string, string[]>();
  for (const fields of [commonHeaders, ...crmExports.map((each) => each.fields)])
    for (const [field, list] of Object.entries(fields))
      for (const key of new Set(list.map(headerKey))) found.set(key, [...(found.get(key) ?? []), field]);
  fieldsByKey = found;
  return found;
}

/** True if exports are known to have a column of this name. @param key key of the name, by `headerKey` */
export function isKnownHeaderKey(key: string): boolean {
  return otherKeys.has(key) || knownFields().has(key);
}

/** Returns the fields of a contact that a column of this name can hold. @param key key of the name, by `headerKey` */
export function fieldsOfHeaderKey(key: string): readonly string[] {
  return knownFields().get(key) ?? [];
}

/** Number of columns that show an export of another object. One such column also occurs in exports of contacts. */
const enoughOfObject = 2;

/** Recognises an export of companies or deals by its columns. Undefined if it may be an export of contacts. */
export function exportedObjectsOtherThanContacts(
  header: readonly string[],
): 'companies' | 'deals' | undefined {
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
