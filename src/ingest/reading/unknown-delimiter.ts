import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { countCharacter } from './dialect.ts';
import type { FirstRows } from '../columns/fields.ts';

/**
 * Refuses a file of one column whose header and rows have the same number, at least two, of a punctuation character:
 * the file is separated by this character. Only for files without people.
 *
 * @throws Problem `export.unknown-delimiter`
 */
export function refuseUnknownDelimiter(path: string, { header, rows }: FirstRows): void {
  const [name, ...others] = header;
  if (name === undefined || others.length > 0) return;
  const delimiter = delimiterOf(
    name,
    rows.map(([cell = '']) => cell),
  );
  if (delimiter !== undefined) throw unknownDelimiter(path, delimiter);
}

/**
 * Refuses a file in whose first line a punctuation character separates known names. Only for files without known names:
 * by the usual delimiters, commas in the cells of such a file look like columns.
 *
 * @throws Problem `export.unknown-delimiter`
 */
export function refuseOtherDelimiter(path: string, sample: string, isKnown: (cell: string) => boolean): void {
  const [first = '', ...rest] = sample.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  const delimiter = delimiterOf(first, rest);
  if (delimiter === undefined) return;
  const names = first.split(delimiter).filter((cell) => isKnown(cell.replace(/^"(.*)"$/, '$1')));
  if (names.length >= 2) throw unknownDelimiter(path, delimiter);
}

/** Marks that belong to names and addresses. */
const usualMark = /[-_.@/&'’()]/;

/**
 * Refuses a file of one column if another character than those of names separates two known names in its header, and
 * is once in most of its rows: the two names together would pass for one.
 *
 * @throws Problem `export.unknown-delimiter`
 */
export function refuseJoinedNames(
  path: string,
  { header, rows }: FirstRows,
  isKnown: (cell: string) => boolean,
): void {
  const [name, ...others] = header;
  if (name === undefined || others.length > 0 || rows.length === 0) return;
  const delimiter = name.match(/(?!["'])[\p{P}\p{S}]/u)?.[0];
  if (delimiter === undefined || usualMark.test(delimiter) || !name.split(delimiter).every(isKnown)) return;
  const cells = rows.map(([cell = '']) => cell);
  if (separates(delimiter, countCharacter(name, delimiter), cells)) throw unknownDelimiter(path, delimiter);
}

/** The punctuation character that is as often in most rows as in the header, and at least twice. */
function delimiterOf(header: string, rows: readonly string[]): string | undefined {
  const [delimiter] = [...new Set(header.match(/(?!["'])[\p{P}\p{S}]/gu))]
    // A mapping file takes one UTF-16 unit.
    .filter((character) => character.length === 1)
    .map((character) => ({ character, count: countCharacter(header, character) }))
    .filter(({ character, count }) => count >= 2 && separates(character, count, rows))
    .sort((one, other) => other.count - one.count);
  return delimiter?.character;
}

function unknownDelimiter(path: string, delimiter: string): Problem {
  return new UsageProblem('export.unknown-delimiter', `the file seems to be separated by ${delimiter}`, {
    where: `${path}, header`,
    next: `write delimiter: '${delimiter}' in a mapping file, and name the mapping file: --mapping FILE`,
  });
}

/** Whether most rows have as many of the character as the header. */
function separates(character: string, count: number, rows: readonly string[]): boolean {
  const agreeing = rows.filter((row) => countCharacter(row, character) === count).length;
  return agreeing * 2 >= rows.length;
}
