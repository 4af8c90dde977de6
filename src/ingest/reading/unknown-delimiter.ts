import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { countCharacter, usualDelimiters } from './dialect.ts';
import type { FirstRows } from '../columns/fields.ts';

/**
 * Refuses a file of one column whose header and rows have the same number, at least two, of a punctuation character:
 * the file is separated by this character. Only for files without people.
 *
 * @param given the delimiter that a mapping file names
 * @throws Problem `export.unknown-delimiter`, `export.quoted-lines`
 */
export function refuseUnknownDelimiter(
  path: string,
  { header, rows }: FirstRows,
  given: string | undefined,
): void {
  const [name, ...others] = header;
  if (name === undefined || others.length > 0) return;
  const delimiter = delimiterOf(
    name,
    rows.map(([cell = '']) => cell),
  );
  if (delimiter !== undefined) throw otherDelimiter(path, delimiter, given);
}

/**
 * Refuses a file in whose first line a punctuation character separates known names. Only for files without known names:
 * by the usual delimiters, commas in the cells of such a file look like columns.
 *
 * @throws Problem `export.unknown-delimiter`, `export.quoted-lines`
 */
export function refuseOtherDelimiter(path: string, sample: string, isKnown: (cell: string) => boolean): void {
  const [first = '', ...rest] = sample.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  const delimiter = delimiterOf(first, rest);
  if (delimiter === undefined) return;
  const names = first.split(delimiter).filter((cell) => isKnown(cell.replace(/^"(.*)"$/, '$1')));
  if (names.length >= 2) throw otherDelimiter(path, delimiter, undefined);
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
  if (separates(delimiter, countCharacter(name, delimiter), cells))
    throw otherDelimiter(path, delimiter, undefined);
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

/** A delimiter by which the file was read, and that still separates nothing, is within quotes. */
function otherDelimiter(path: string, delimiter: string, given: string | undefined): Problem {
  const where = `${path}, header`;
  return (given === undefined ? usualDelimiters : [given]).includes(delimiter)
    ? new UsageProblem('export.quoted-lines', 'each line of the file is one cell, because it is in quotes', {
        where,
        next:
          'export the contacts again, and do not save the file with a spreadsheet program; or remove the quotes ' +
          'around each line, and write "" within a line as "',
      })
    : new UsageProblem('export.unknown-delimiter', `the file seems to be separated by ${delimiter}`, {
        where,
        next: `write delimiter: '${delimiter}' in a mapping file, and name the mapping file: --mapping FILE`,
      });
}

/** Whether most rows have as many of the character as the header. */
function separates(character: string, count: number, rows: readonly string[]): boolean {
  const agreeing = rows.filter((row) => countCharacter(row, character) === count).length;
  return agreeing * 2 >= rows.length;
}
