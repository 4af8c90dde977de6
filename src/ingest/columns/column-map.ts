import { contactFields, crmExports, type CrmExport } from '../../domain/crm/crm.ts';
import { comparisonForm } from '../../domain/identity/values/normalise.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { columnNotes, refuseShortenedIds, refuseWithoutPeople } from './check-columns.ts';
import { Columns } from './columns.ts';
import type { ColumnsOfPeople, ContactField, FirstRows } from './fields.ts';
import { commonHeaders, firstOrWholeNames, lastOrWholeNames, secondSurnames } from './known-headers.ts';
import { refuseImplausibleColumns, type ExportMapping } from './mapping-file.ts';
import { givenOptOuts, refuseUnclearConsents, takeOptOuts, type OptOutColumn } from './opt-outs.ts';
import { proposeMissedColumns } from './propose-columns.ts';
import { contradictedSource, recogniseExport, refuseOwnFile, unusedRecordIds } from './recognise-export.ts';

/** The columns of each field. */
export interface ColumnMap {
  readonly source: string;
  readonly fields: ColumnsOfPeople;
  /** Columns of second surnames. */
  readonly secondSurnames: readonly number[];
  readonly optOuts: readonly OptOutColumn[];
  readonly warnings: readonly string[];
}

/**
 * Assigns columns to fields: first by the mapping file, then by the recognised CRM, then by common names. Each column
 * is used once. If two columns have the same name, neither is chosen by guess.
 *
 * @param source the source of the contacts; the name of a known CRM also says whose columns these are
 * @throws Problem `mapping.unknown-column`, `mapping.ambiguous`, `mapping.column-named-twice`, `mapping.implausible`,
 *   `mapping.opt-out-ignored`, `mapping.consent-unclear`, `export.no-identifying-column`, `export.other-object`,
 *   `export.own-file`, `export.shortened-ids`
 */
export function mapColumns(
  path: string,
  layout: FirstRows & { readonly recognised: boolean },
  { mapping, source }: { mapping?: ExportMapping | undefined; source?: string | undefined },
): ColumnMap {
  const { header } = layout;
  refuseOwnFile(path, header);
  const name = source ?? mapping?.source;
  const recognised = recogniseExport(layout);
  const known = knownExportOf(name, recognised);
  const columns = new Columns(path, layout, layout.recognised);

  const given = Object.fromEntries(
    contactFields.flatMap((field) => {
      const references = mapping?.columns?.[field];
      return references === undefined ? [] : [[field, columns.take(references)] as const];
    }),
  ) as Partial<ColumnsOfPeople>;
  const givenRefusals = givenOptOuts(columns, mapping);
  const namesOf = (field: ContactField): string[] => [
    ...(known?.fields[field] ?? []),
    ...commonHeaders[field],
  ];
  const claimed = Object.fromEntries(
    contactFields.map((field) => [field, given[field] ?? columns.claim(field, namesOf(field))]),
  ) as unknown as ColumnsOfPeople;
  const fields = withNamesInTheirPlace(claimed, given, layout);
  const optOuts = [...givenRefusals, ...takeOptOuts(columns, layout, known)];
  refuseShortenedIds(path, layout, fields.contact_id[0], given.contact_id !== undefined);
  refuseImplausibleColumns(path, layout, given);
  const isFree = (column: number): boolean => columns.isFree(column);
  const hasOptOuts = optOuts.some(({ scope }) => scope === 'processing');
  const missed = proposeMissedColumns(layout, isFree, known !== undefined, fields);
  refuseWithoutPeople(columns, layout, fields, missed, mapping);
  refuseUnclearConsents(columns, layout);

  return {
    source: name ?? known?.source ?? 'generic',
    fields,
    secondSurnames: fields.last_name.filter((column) => secondSurnames.has(headerKey(header[column]!))),
    optOuts,
    warnings: [
      ...contradictedSource(name, recognised),
      ...(known && given.contact_id ? unusedRecordIds(known, header, isFree) : []),
      ...columnNotes(layout, isFree, { fields, hasOptOuts }, missed),
    ],
  };
}

/** The CRM of this name; without one, the CRM that the header shows. HubSpot has two kinds of exports. */
function knownExportOf(name: string | undefined, recognised: CrmExport | undefined): CrmExport | undefined {
  if (recognised?.source === name) return recognised;
  return crmExports.find((candidate) => candidate.source === name) ?? recognised;
}

/**
 * Some headers name a part of a name or the whole one. Beside a column of first names and none of last names, a column
 * such as the German `Name` has last names, unless its cells repeat the first names. Without a column of other names, a
 * column such as `Nombre` has whole names.
 */
function withNamesInTheirPlace(
  fields: ColumnsOfPeople,
  given: Partial<ColumnsOfPeople>,
  { header, rows }: FirstRows,
): ColumnsOfPeople {
  const { first_name: first, last_name: last, name } = fields;
  const isPart = { first_name: firstOrWholeNames, last_name: lastOrWholeNames };
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
