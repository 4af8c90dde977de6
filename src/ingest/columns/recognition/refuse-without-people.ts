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
