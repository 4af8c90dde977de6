import { UsageProblem } from '../../domain/problem.ts';
import { countCharacter } from './dialect.ts';

type Rows = readonly (readonly string[])[];

/**
 * Refuses a file of one column whose header and rows have the same number, at least two, of a punctuation character:
 * the file is separated by this character. Only for files without people.
 *
 * @throws Problem `export.unknown-delimiter`
 */
export function refuseUnknownDelimiter(
  path: string,
  { header, rows }: { readonly header: readonly string[]; readonly rows: Rows },
): void {
  const [name, ...others] = header;
  if (name === undefined || others.length > 0) return;
  const [delimiter] = [...new Set(name.match(/(?!["'])[\p{P}\p{S}]/gu))]
    // A mapping file takes one UTF-16 unit.
    .filter((character) => character.length === 1)
    .map((character) => ({ character, count: countCharacter(name, character) }))
    .filter(({ character, count }) => count >= 2 && separates(character, count, rows))
    .sort((one, other) => other.count - one.count);
  if (delimiter === undefined) return;
  const { character } = delimiter;
  throw new UsageProblem(
    'export.unknown-delimiter',
    `the file has one column, and seems to be separated by ${character}`,
    {
      where: `${path}, header`,
      next: `write delimiter: '${character}' in a mapping file, and name the mapping file: --mapping FILE`,
    },
  );
}

/** Whether most rows have as many of the character as the header. */
function separates(character: string, count: number, rows: Rows): boolean {
  const agreeing = rows.filter(([cell = '']) => countCharacter(cell, character) === count).length;
  return agreeing * 2 >= rows.length;
}
