import { UsageProblem } from '../../../domain/problem.ts';
import type { Columns } from '../columns.ts';
import type { ColumnsOfPeople } from '../fields.ts';
import type { ExportMapping } from '../mapping/mapping-file.ts';
import { otherObjectOf } from './other-object.ts';

/**
 * Refuses a file without people: no column identifies people, or there is only a column `name` beside columns of
 * companies or deals.
 */
export function refuseWithoutPeople(
  columns: Columns,
  header: readonly string[],
  { single, emails }: ColumnsOfPeople,
  mapping: ExportMapping | undefined,
): void {
  const inParts = single.first_name.length > 0 && single.last_name.length > 0;
  const employed = single.organization_name.length > 0 || single.domain.length > 0;
  const identified =
    emails.length + single.hashed_email.length + single.profile_url.length + single.person_id.length > 0;
  if (identified || (inParts && employed)) return;
  refuseOneColumn(columns, header);
  const other = otherObjectOf(header);
  // In an export of companies a bare name is the company's own.
  const isPerson =
    other === undefined ||
    mapping?.columns?.name !== undefined ||
    (other === 'companies' && single.organization_name.length > 0);
  if (single.name.length > 0 && employed && isPerson) return;
  if (other !== undefined) {
    throw new UsageProblem(
      'export.other-object',
      `the file is an export of ${other}, and no column identifies people`,
      {
        where: columns.where(),
        next:
          `export contacts (people) in place of ${other}; if the rows are people, assign their columns: ` +
          '--mapping FILE',
      },
    );
  }
  throw new UsageProblem(
    'export.no-identifying-column',
    'no column identifies people: none is recognised as email, profile URL, or name with company',
    {
      where: columns.where(),
      next:
        'assign the columns in a mapping file, --mapping FILE: {"columns": {"email": "NAME OF THE ' +
        'COLUMN"}}; enrich plan proposes one',
    },
  );
}

/** Marks that belong to a single name. */
const usualMarks = /[-_.@/&'’()]/gu;

/** Refuses a file of one column whose name has the marks of several: it has another delimiter, or is all in quotes. */
function refuseOneColumn(columns: Columns, [name = '', ...others]: readonly string[]): void {
  if (others.length > 0 || !/[\p{P}\p{S}]/u.test(name.replaceAll(usualMarks, ''))) return;
  throw new UsageProblem(
    'export.unknown-delimiter',
    'the file has one column, whose name seems to be several',
    {
      where: columns.where(),
      next:
        "if a character separates the columns, write it in a mapping file, such as delimiter: '^', and add " +
        '--mapping FILE; if each line is in quotes, export the contacts again, and do not save the file with a ' +
        'spreadsheet program',
    },
  );
}
