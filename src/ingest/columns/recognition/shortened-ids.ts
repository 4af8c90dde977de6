import { UsageProblem } from '../../../domain/problem.ts';
import { shownHeader } from '../../../domain/text/header-name.ts';
import type { FirstRows } from '../fields.ts';

/** `5.01234E+17`: what a spreadsheet program saves of a number with more digits than its column shows. */
const shortened = /^\d[.,]?\d*E\+\d+$/i;
/** A number of at least 17 digits, of which a spreadsheet program keeps 15. */
const rounded = /^\d{15}0{2,}$/;
/** A few numbers may end in zeros by themselves. */
const fewestRounded = 3;

/**
 * Refuses record ids that a spreadsheet program has shortened: they name no record of the CRM, or another one, which a
 * file for the importer would then change.
 *
 * @param column of the record ids, if there is one
 * @param isNamed a mapping file names the column: then ids that end in zeros are whole
 * @throws Problem `export.shortened-ids`
 */
export function refuseShortenedIds(
  path: string,
  { header, rows }: FirstRows,
  column: number | undefined,
  isNamed: boolean,
): void {
  if (column === undefined) return;
  const ids = rows.map((row) => (row[column] ?? '').trim());
  const long = ids.filter((id) => /^\d{17,}$/.test(id));
  const areRounded = !isNamed && long.length >= fewestRounded && long.every((id) => rounded.test(id));
  if (!areRounded && !ids.some((id) => shortened.test(id))) return;
  throw new UsageProblem(
    'export.shortened-ids',
    `column "${shownHeader(header[column]!)}" has numbers that a spreadsheet program has shortened: they are no ` +
      'record ids of the CRM',
    {
      where: `${path}, column ${column + 1}, by its first rows`,
      next:
        'export the contacts again, and do not save the file with a spreadsheet program; to enrich them without ' +
        `record ids: --mapping FILE with {"ignore": [${column + 1}]}`,
    },
  );
}
