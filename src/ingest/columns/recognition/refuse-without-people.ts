import { UsageProblem } from '../../../domain/problem.ts';
import type { Columns } from '../columns.ts';
import { usualDelimiters } from '../../reading/record-parser.ts';
import type { ColumnsOfPeople, FirstRows } from '../fields.ts';
import type { ExportMapping } from '../mapping/mapping-file.ts';
import { otherObjectOf } from './other-object.ts';

/**
 * Refuses a file without people: no column identifies people, or there is only a column `name` beside columns of
 * companies or deals.
 */
export function refuseWithoutPeople(
  columns: Columns,
  first: FirstRows,
  { single, emails }: ColumnsOfPeople,
  mapping: ExportMapping | undefined,
): void {
  if (mapping?.columns === undefined) refuseJoinedColumns(columns, first);
  const inParts = single.first_name.length > 0 && single.last_name.length > 0;
  const employed = single.organization_name.length > 0 || single.domain.length > 0;
  const identified =
    emails.length + single.hashed_email.length + single.profile_url.length + single.person_id.length > 0;
  if (identified || (inParts && employed)) return;
  const other = otherObjectOf(first.header);
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

/** A character other than those of single names and addresses. */
const separator = /[^\p{L}\p{M}\p{N}\s\-_.@/&'’()"]/gu;

/**
 * Refuses a file of one column if a character separates parts of its name, and is in most rows: the file has another
 * delimiter, or each line is in quotes. Otherwise `company^email` would pass for an address with the company in it.
 */
function refuseJoinedColumns(columns: Columns, { header: [name = '', ...others], rows }: FirstRows): void {
  if (others.length > 0) return;
  const delimiter = name.match(separator)?.find((mark) => {
    const parts = name.split(mark).filter((part) => part.trim() !== '');
    const having = rows.filter(([cell = '']) => cell.includes(mark));
    return parts.length > 1 && rows.length > 0 && having.length * 2 >= rows.length;
  });
  if (delimiter === undefined) return;
  const shown = JSON.stringify(delimiter);
  throw new UsageProblem(
    'export.unknown-delimiter',
    `the file has one column that seems to be several, separated by ${shown}`,
    {
      where: columns.where(),
      next: usualDelimiters.includes(delimiter)
        ? 'each line is in quotes: export the contacts again, and do not save the file with a spreadsheet program'
        : `write delimiter: ${shown} in a mapping file, and name the mapping file: --mapping FILE`,
    },
  );
}
