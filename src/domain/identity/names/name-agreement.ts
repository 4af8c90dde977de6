import { comparisonForm } from '../values/normalise.ts';
import content from './nicknames.json' with { type: 'json' };

/** A person's name as words in comparison form, without titles. `first` and `last` may be guesses (`isGuessed`). */
export interface ComparedName {
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly all: readonly string[];
  /** True if the name was one text, which may be only a first or last name, such as `van der Berg`. */
  readonly isGuessed: boolean;
  readonly isLatin: boolean;
}

/**
 * Result of a comparison of two names.
 *
 * - `agree`: the same name, allowing for initials, missing other names, double-barrelled names and swapped order.
 * - `partly`: possibly the same person: same first name or nickname with another last name (a marriage), or a part of
 *   it.
 * - `other_first_name`: the last name agrees and the first name does not (a relative).
 * - `differ`: neither agrees, or one side is a single word that the other lacks.
 * - `unknown`: one side has no name, or the scripts differ.
 */
export type NameVerdict = 'agree' | 'partly' | 'other_first_name' | 'differ' | 'unknown';

const latin = /\p{Script=Latin}/u;

/** Prepares a name for comparisons. @returns undefined if the parts contain no name */
export function toComparedName(
  first: string | null | undefined,
  last: string | null | undefined,
  whole: string | null | undefined,
): ComparedName | undefined {
  const firstWords = words(first);
  const lastWords = words(last);
  const bothKnown = firstWords.length > 0 && lastWords.length > 0;
  const all = bothKnown
    ? firstWords.concat(lastWords)
    : words(whole || [first, last].filter(Boolean).join(' '));
  if (all.length === 0) return undefined;
  const isLatin = all.some((word) => latin.test(word));
  return bothKnown
    ? { first: firstWords, last: lastWords, all, isGuessed: false, isLatin }
    : { first: all.slice(0, 1), last: all.slice(1), all, isGuessed: true, isLatin };
}

/** Compares two names. Exchanging the two does not change the result. */
export function compareNames(one: ComparedName | undefined, other: ComparedName | undefined): NameVerdict {
  if (!one || !other || one.isLatin !== other.isLatin) return 'unknown';
  if (one.all.length === 1) return compareLoneWord(one.all[0]!, other);
  if (other.all.length === 1) return compareLoneWord(other.all[0]!, one);
  if (isSwapped(one, other)) return 'agree';
  const last = lastNamesAgree(one.last, other.last);
  if (last && firstNamesAgree(one.first, other.first) && !haveOtherWords(one, other)) return 'agree';
  if (mayBeOneFirstName(one.first, other.first) || isPartOf(one, other) || isPartOf(other, one))
    return 'partly';
  return last ? 'other_first_name' : 'differ';
}

/** The name cells of a row. */
export interface NameCells {
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly name: string | null;
}

/** Compares the names of two rows. */
export function compareNameCells(one: Partial<NameCells>, other: Partial<NameCells>): NameVerdict {
  const [name, otherName] = [one, other].map((cells) =>
    toComparedName(cells.first_name, cells.last_name, cells.name),
  );
  return compareNames(name, otherName);
}

/** Compares a name of a single word. A single word is a full name only in scripts that write names as one word. */
function compareLoneWord(word: string, name: ComparedName): NameVerdict {
  const inOneWord = [name.first.join('') + name.last.join(''), name.last.join('') + name.first.join('')];
  if (/\p{Lo}/u.test(word) && name.all.length > 1 && inOneWord.includes(word)) return 'agree';
  return name.all.includes(word) || mayBeOneFirstName([word], name.first) ? 'partly' : 'differ';
}

/** True if all words of a name are words of the other's last name, or all of the other's first name. */
function isPartOf({ isGuessed, all }: ComparedName, { first, last }: ComparedName): boolean {
  return isGuessed && [first, last].some((part) => all.every((word) => part.includes(word)));
}

/** True if first and last name are swapped. Only whole words count: `J Martin` is not `Martin J`. */
function isSwapped(one: ComparedName, other: ComparedName): boolean {
  return one.all.join(' ') === [...other.last, ...other.first].join(' ') && !one.all.some(isInitial);
}

/** True if first names are equal or initials of each other, one by one. Further names may be missing on one side. */
function firstNamesAgree(one: readonly string[], other: readonly string[]): boolean {
  if (one.join('') === other.join('')) return true;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return short.every((word, place) => isWordOrInitial(word, long[place]!));
}

/** True if last names are equal, or one is a part of a double-barrelled name. An initial is not enough. */
function lastNamesAgree(one: readonly string[], other: readonly string[]): boolean {
  if (one.join('') === other.join('')) return !one.every(isInitial);
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return short.every((word) => !isInitial(word) && long.includes(word));
}

/** True if each name has a word that the other lacks, such as `James Alan Smith` and `James B.`. */
function haveOtherWords(one: ComparedName, other: ComparedName): boolean {
  const firstAndLast = (one.first.length - other.first.length) * (one.last.length - other.last.length);
  return firstAndLast < 0 && one.all.join(' ') !== other.all.join(' ');
}

/** True if first names are equal, initials or short forms of each other, or share a word. */
function mayBeOneFirstName(one: readonly string[], other: readonly string[]): boolean {
  return (
    one.join('') === other.join('') ||
    isWordOrInitial(one[0]!, other[0]!) ||
    areFormsOfOneName(one[0]!, other[0]!) ||
    one.some((word) => !isInitial(word) && other.includes(word))
  );
}

/** True if two words are equal, or one is the initial of the other. */
function isWordOrInitial(one: string, other: string): boolean {
  return (
    one === other || (isInitial(one) && other.startsWith(one)) || (isInitial(other) && one.startsWith(other))
  );
}

/** True for a single letter of a script with lower case. In other scripts a single character is a whole name. */
export function isInitial(word: string): boolean {
  // The length is checked first, because this is faster than the regular expression.
  return word.length <= 2 && /^\p{Ll}$/u.test(word);
}

/** Titles before or after a name. One of two equal names may lack its title. */
const titles = new Set(['dr', 'prof', 'mr', 'mrs', 'ms', 'phd', 'mba']);

/** Parts of titles that must be followed by a point. Without the point, `Ing` and `Nat` are names. */
const doctorates = 'med|dent|vet|rer|nat|pol|oec|phil|jur|iur|theol|habil|h\\. ?c';
const abbreviatedTitles = new RegExp(
  `(?<!\\p{L})(?:dr\\.(?: ?(?:${doctorates})\\.)*|(?:dipl|ing|mag|lic|dott|mgr|judr|mudr)\\.)`,
  'giu',
);

/** Finds the point between initials that are written together (`J.R.`), to split them into words. */
const pointBetweenInitials = /(?<=(?<!\p{L})\p{L})\.(?=\p{L}(?!\p{L}))/gu;

/** The words of a name in comparison form, without titles. Initials written together (`J.R.`) are two words. */
function words(text: string | null | undefined): string[] {
  if (!text) return [];
  const apart = text.includes('.')
    ? text.replaceAll(abbreviatedTitles, ' ').replaceAll(pointBetweenInitials, '. ')
    : text;
  return comparisonForm(apart)
    .split(' ')
    .filter((word) => word !== '' && !titles.has(word));
}

/** First names with short forms. A name can be in several lists: Alex is Alexander or Alexandra, which differ. */
const groups = content.map((names) => new Set(names));

/**
 * True if two names in comparison form can be one person's, such as a nickname. They support an agreeing e-mail, but
 * are no evidence alone, because different people have such names too.
 */
function areFormsOfOneName(one: string, other: string): boolean {
  return groups.some((group) => group.has(one) && group.has(other));
}
