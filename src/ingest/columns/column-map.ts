import { exportFields, crmExports, type CrmExport } from '../../domain/crm/crm.ts';
import { comparisonForm } from '../../domain/identity/values/normalise.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { headerKey, formatHeader, formatHeaders } from '../../domain/text/header-name.ts';
import { createHeaderColumns } from './columns.ts';
import { filledCells, type ColumnsOfPeople, type ContactField, type ExportSample } from './fields.ts';
import {
  commonHeaders,
  firstOrWholeNames,
  lastOrWholeNames,
  exportedObjectsOtherThanContacts,
} from './known-headers.ts';
import type { ExportMapping } from './mapping-file.ts';
import { optOutsOfMapping, refuseUnclearConsents, takeOptOutColumns } from './opt-outs.ts';
import { sourceContradictionWarnings, recogniseExport, refuseOwnFile } from './recognise-export.ts';

export type ColumnMap = ReturnType<typeof mapColumns>;

/** Assigns columns to fields: by the mapping file, the CRM, common names. @throws Problem `mapping.*`, `export.*` */
export function mapColumns(
  path: string,
  layout: ExportSample & { readonly recognised: boolean },
  { mapping, source }: { mapping?: ExportMapping | undefined; source?: string | undefined },
) {
  const { header } = layout;
  refuseOwnFile(path, header);
  const name = source ?? mapping?.source;
  const recognised = recogniseExport(layout);
  const known = knownExportOf(name, recognised);
  const columns = createHeaderColumns(path, layout);

  const given = Object.fromEntries(
    exportFields.flatMap((field) => {
      const references = mapping?.columns?.[field];
      return references === undefined ? [] : [[field, columns.take(references)] as const];
    }),
  ) as Partial<ColumnsOfPeople>;
  const givenRefusals = optOutsOfMapping(columns, mapping);
  const namesOf = (field: ContactField): string[] => [
    ...(known?.fields[field] ?? []),
    ...commonHeaders[field],
  ];
  const claimed = Object.fromEntries(
    exportFields.map((field) => [field, given[field] ?? columns.claim(field, namesOf(field))]),
  ) as unknown as ColumnsOfPeople;
  const fields = withNamesInTheirPlace(claimed, given, layout);
  const optOuts = [...givenRefusals, ...takeOptOutColumns(columns, known)];
  refuseShortenedIds(path, layout, fields.contact_id[0], given.contact_id !== undefined);
  refuseWithoutPeople(columns.where, layout, fields, mapping);
  refuseUnclearConsents(columns);

  return {
    source: name ?? known?.source ?? 'generic',
    fields,
    optOuts,
    warnings: sourceContradictionWarnings(name, recognised),
  };
}

/** Returns the CRM that `--source` names, otherwise the CRM that the header shows. HubSpot has two kinds of exports. */
function knownExportOf(name: string | undefined, recognised: CrmExport | undefined): CrmExport | undefined {
  if (recognised?.source === name) return recognised;
  return crmExports.find((candidate) => candidate.source === name) ?? recognised;
}

/** `Name` beside first names has last names, unless its cells repeat the first names. `Nombre` alone has full names. */
function withNamesInTheirPlace(
  fields: ColumnsOfPeople,
  given: Partial<ColumnsOfPeople>,
  { header, rows }: ExportSample,
): ColumnsOfPeople {
  const { first_name: first, last_name: last, name } = fields;
  const isPart = { first_name: firstOrWholeNames, last_name: lastOrWholeNames };
  // The only column of names, if its header can also mean full names.
  const whole = (['first_name', 'last_name'] as const).find(
    (field) =>
      first.length + last.length + name.length === fields[field].length &&
      given[field] === undefined &&
      fields[field].every((column) => isPart[field].has(headerKey(header[column]!))),
  );
  if (whole !== undefined) return { ...fields, [whole]: [], name: fields[whole] };
  const isGiven = given.name !== undefined || given.last_name !== undefined;
  if (isGiven || first.length === 0 || last.length > 0 || name.length !== 1) return fields;
  const both = rows
    .map((row) => [first[0]!, name[0]!].map((column) => ` ${comparisonForm(row[column] ?? '')} `))
    .filter((cells) => cells.every((cell) => cell.trim() !== ''));
  const repeated = both.filter(([firstName, wholeName]) => wholeName!.includes(firstName!));
  return both.length > 2 * repeated.length ? { ...fields, last_name: name, name: [] } : fields;
}

/** Matches a header that contains an unknown delimiter, such as `company^email`. */
const joinedNames = /[^\p{L}\p{M}\p{N}\s._'@#*/():!?+-]/u;

/** Refuses a file that lists no people. @throws Problem `export.other-object`, `export.no-identifying-column` */
function refuseWithoutPeople(
  where: string,
  { header, recognised }: ExportSample & { readonly recognised: boolean },
  fields: ColumnsOfPeople,
  mapping: ExportMapping | undefined,
): void {
  const has = (field: ContactField): boolean => fields[field].length > 0;
  const employed = has('organization_name') || has('domain');
  const isJoined = mapping?.columns === undefined && header.length === 1 && joinedNames.test(header[0]!);
  if (!isJoined && (['email', 'hashed_email', 'profile_url', 'person_id'] as const).some(has)) return;
  if (has('first_name') && has('last_name') && employed) return;
  const other = exportedObjectsOtherThanContacts(header);
  // In an export of companies or deals, the column `name` names the company or deal.
  const isPerson =
    other === undefined ||
    mapping?.columns?.name !== undefined ||
    (other === 'companies' && has('organization_name'));
  if (has('name') && employed && isPerson) return;
  if (other !== undefined)
    throw new UsageProblem(
      'export.other-object',
      `the file is an export of ${other}, and no column identifies people`,
      {
        where,
        next:
          `export contacts (people) in place of ${other}; if the rows are people, assign their columns: ` +
          '--mapping FILE',
      },
    );
  // The names are shown only if they are well known, because the first line of a file without a header is a contact.
  const names = recognised ? `: ${formatHeaders(header)}` : '';
  const what = `none of the columns is recognised as email, profile URL, or name with company${names}`;
  throw new UsageProblem('export.no-identifying-column', what, {
    where,
    next:
      'assign the columns in a mapping file, --mapping FILE: {"columns": {"email": "NAME OF THE COLUMN"}}; if the ' +
      'file has another delimiter than , ; | and tab, name it there: {"delimiter": "^"}',
  });
}

/** Matches a long number as a spreadsheet program shortens it: `5.01234E+17`. */
const shortened = /^\d[.,]?\d*E\+\d+$/i;
/** Matches a number of which a spreadsheet program has kept only 15 digits, so that it ends in zeros. */
const rounded = /^\d{15}0{2,}$/;
/** Minimum number of ids that must all end in zeros, because a few ids may really do so. */
const fewestRounded = 3;

/** Refuses ids that a spreadsheet has shortened, which can name another record. @param isNamed by a mapping file */
function refuseShortenedIds(
  path: string,
  { header, rows }: ExportSample,
  column: number | undefined,
  isNamed: boolean,
): void {
  if (column === undefined) return;
  const ids = filledCells(rows, column);
  const long = ids.filter((id) => /^\d{17,}$/.test(id));
  const areRounded = !isNamed && long.length >= fewestRounded && long.every((id) => rounded.test(id));
  if (!areRounded && !ids.some((id) => shortened.test(id))) return;
  const what =
    `column "${formatHeader(header[column]!)}" has numbers that a spreadsheet program has shortened: they are no ` +
    'record ids of the CRM';
  throw new UsageProblem('export.shortened-ids', what, {
    where: `${path}, column ${column + 1}, by its first rows`,
    next:
      'export the contacts again, and do not save the file with a spreadsheet program; to enrich them without ' +
      `record ids: --mapping FILE with {"ignore": [${column + 1}]}`,
  });
}
