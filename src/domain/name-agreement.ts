import { comparisonForm } from './normalise.ts';

/** A name as words in comparison form; first and last are empty where only a whole name is known. */
export interface ComparedName {
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly all: readonly string[];
}

/**
 * - `agree`: the same name, allowing for initials, a missing second name, double-barrelled names and swapped order.
 * - `partly`: the first or the last name agrees and the other does not: a nickname, a marriage, or somebody else.
 * - `differ`: neither does.
 * - `unknown`: one side has no name, has but a single word that the other lacks (a nickname, a former last name), or is
 *   written in another script.
 */
export type NameVerdict = 'agree' | 'partly' | 'differ' | 'unknown';

/** @returns undefined where there is no name at all */
export function compareReady(
  first: string | null | undefined,
  last: string | null | undefined,
  whole: string | null | undefined,
): ComparedName | undefined {
  const firstWords = words(first);
  const lastWords = words(last);
  const bothKnown = firstWords.length > 0 && lastWords.length > 0;
  const all = bothKnown
    ? [...firstWords, ...lastWords]
    : words(whole || [first, last].filter(Boolean).join(' '));
  if (all.length === 0) return undefined;
  return bothKnown
    ? { first: firstWords, last: lastWords, all }
    : { first: all.slice(0, 1), last: all.slice(1), all };
}

/** Says how far two names agree; the order of the two does not matter. */
export function compareNames(one: ComparedName | undefined, other: ComparedName | undefined): NameVerdict {
  if (!one || !other || isLatin(one) !== isLatin(other)) return 'unknown';
  const isLone = [one, other].some((name) => name.all.length === 1);
  // A lone word names somebody only where a script writes the whole name as one.
  if (isLone && isLatin(one)) return one.all.some((word) => other.all.includes(word)) ? 'partly' : 'unknown';
  const joined = one.all.join('');
  if (joined === other.all.join('') || joined === [...other.last, ...other.first].join('')) return 'agree';
  const first = firstNamesAgree(one.first, other.first);
  const last = lastNamesAgree(one.last, other.last);
  if (first && last) return 'agree';
  if (firstNamesAgree(one.first, other.last) && lastNamesAgree(one.last, other.first)) return 'agree';
  return first || last ? 'partly' : isLone ? 'unknown' : 'differ';
}

function isLatin(name: ComparedName): boolean {
  return /\p{Script=Latin}/u.test(name.all.join(''));
}

/** Equal, an initial of the other, or one of its several first names. */
function firstNamesAgree(one: readonly string[], other: readonly string[]): boolean {
  if (one.length === 0 || other.length === 0) return false;
  if (one.join('') === other.join('')) return true;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return short.every((word) =>
    long.some((longer) => longer === word || isInitial(word, longer) || isInitial(longer, word)),
  );
}

/** Equal, or one of the parts of a double-barrelled name. An initial is too little for a last name. */
function lastNamesAgree(one: readonly string[], other: readonly string[]): boolean {
  if (one.length === 0 || other.length === 0) return false;
  if (one.join('') === other.join('')) return true;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return short.every((word) => word.length > 1 && long.includes(word));
}

function isInitial(word: string, name: string): boolean {
  return word.length === 1 && name.startsWith(word);
}

/** Written before a name or behind it, on one side and not on the other. */
const titles = new Set(['dr', 'prof', 'mr', 'mrs', 'ms', 'phd', 'mba']);

function words(text: string | null | undefined): string[] {
  return text
    ? comparisonForm(text)
        .split(' ')
        .filter((word) => word !== '' && !titles.has(word))
    : [];
}

/**
 * Whether the local part of an address is made of a person's name: `jane.doe`, `jdoe`, `janed`, `doe.jane`, `jane_doe2`.
 * A first name alone is too common to name anybody.
 */
export function isMadeOfName(localPart: string, name: ComparedName): boolean {
  const first = name.first.join('');
  const last = name.last.join('');
  if (first === '' || last.length < 2) return false;
  const letters = comparisonForm(localPart.split('+')[0]!).replace(/[^\p{L}]/gu, '');
  return [first + last, last + first, first[0]! + last, last + first[0]!, first + last[0]!].includes(letters);
}
