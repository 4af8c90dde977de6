import { crmExports, singleFields, type CrmExport } from '../../domain/crm/crm.ts';
import { comparisonForm, hasLastNamesFirst } from '../../domain/identity/values/normalise.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { columnNotes, refuseShortenedIds, refuseWithoutPeople } from './check-columns.ts';
import { Columns } from './columns.ts';
import type { ColumnsOfPeople, FirstRows, SingleField } from './fields.ts';
import { commonHeaders, firstOrWholeNames, lastOrWholeNames, secondSurnames } from './known-headers.ts';
import { refuseImplausibleColumns, type ExportMapping } from './mapping-file.ts';
import { givenOptOuts, refuseUnclearConsents, takeOptOuts, type OptOutColumn } from './opt-outs.ts';
import { proposeMissedColumns } from './propose-columns.ts';
import {
  contradictedSource,
  foreignIds,
  recogniseExport,
  recogniseOwnFile,
  unusedRecordIds,
} from './recognise-export.ts';

type SingleColumns = ColumnsOfPeople['single'];

/** The columns of each field. */
export interface ColumnMap extends ColumnsOfPeople {
  readonly source: string;
  /** Columns of whole names in which the last name comes first. */
  readonly lastNameFirst: ReadonlySet<number>;
  /** Columns of second surnames. */
  readonly secondSurnames: readonly number[];
  readonly optOuts: readonly OptOutColumn[];
  /** The column that must name `source` in every row; undefined: all rows of the file are of one source. */
  readonly sourceColumn: number | undefined;
  readonly warnings: readonly string[];
}

/**
 * Assigns columns to fields: first by the mapping file, then by the recognised CRM, then by common names. Each column
 * is used once. If two columns have the same name, neither is chosen by guess.
 *
 * @param source the source of the contacts; the name of a known CRM also says whose columns these are
 * @throws Problem `mapping.unknown-column`, `mapping.ambiguous`, `mapping.column-named-twice`, `mapping.implausible`,
 *   `mapping.opt-out-ignored`, `mapping.consent-unclear`, `export.no-identifying-column`, `export.other-object`,
 *   `export.mixed-sources`, `export.shortened-ids`
 */
export function mapColumns(
  path: string,
  layout: FirstRows & { readonly recognised: boolean },
  { mapping, source }: { mapping?: ExportMapping | undefined; source?: string | undefined },
): ColumnMap {
  const { header, rows } = layout;
  const chosen = source ?? mapping?.source;
  const own = chosen === undefined ? recogniseOwnFile(path, layout) : undefined;
  const name = chosen ?? own?.source;
  const known = knownExportOf(name, layout);
  const columns = new Columns(path, layout, layout.recognised);

  const given = takeGiven(columns, mapping);
  const namesOf = (field: SingleField | 'email'): string[] => [
    ...(field === 'contact_id' ? (own?.idNames ?? []) : []),
    ...(known?.fields[field] ?? []),
    ...commonHeaders[field],
  ];
  const claimed = Object.fromEntries(
    singleFields.map((field) => [field, given.single[field] ?? columns.claim(field, namesOf(field))]),
  ) as unknown as SingleColumns;
  const named = { ...claimed, ...takeShortNames(columns, layout, claimed) };
  const single = withLastNames(withWholeNames(named, given.single, header), given.single, rows);
  refuseShortenedIds(path, layout, single.contact_id[0], given.single.contact_id !== undefined);
  const emails = given.emails ?? columns.claim('email', namesOf('email'));
  const optOuts = [...given.optOuts, ...takeOptOuts(columns, layout, known)];
  const chosenColumns = {
    ...single,
    email: emails,
    opted_out: optOuts.filter(({ scope }) => scope === 'processing').map(({ column }) => column),
  };
  const isFree = (column: number): boolean => columns.isFree(column);
  const missed = proposeMissedColumns(layout, isFree, known !== undefined, chosenColumns);
  const map: ColumnMap = {
    source: name ?? known?.source ?? 'generic',
    single,
    emails,
    lastNameFirst: columnsWithLastNameFirst(single.name, emails[0], rows),
    secondSurnames: single.last_name.filter((column) => secondSurnames.has(headerKey(header[column]!))),
    optOuts,
    sourceColumn: own?.sourceColumn,
    warnings: [
      ...contradictedSource(chosen, layout),
      ...(known === undefined ? [] : unusedRecordIds(known, mapping, header, isFree)),
      ...(known === undefined && chosen === undefined ? foreignIds(layout) : []),
      ...columnNotes(columns, layout, chosenColumns, missed),
    ],
  };
  refuseImplausibleColumns(path, layout, map, mapping);
  refuseWithoutPeople(columns, layout, map, mapping);
  refuseUnclearConsents(columns, layout);
  return map;
}

function columnsWithLastNameFirst(
  names: readonly number[],
  email: number | undefined,
  rows: FirstRows['rows'],
): ReadonlySet<number> {
  const cellOf = (row: readonly string[], column: number | undefined): string => row[column ?? -1] ?? '';
  return new Set(
    names.filter((column) =>
      hasLastNamesFirst(rows.map((row) => ({ name: cellOf(row, column), address: cellOf(row, email) }))),
    ),
  );
}

/** The CRM of this name; without one, the CRM that the header shows. */
function knownExportOf(name: string | undefined, first: FirstRows): CrmExport | undefined {
  const recognised = recogniseExport(first);
  // HubSpot has two kinds of exports.
  if (recognised?.source === name) return recognised;
  return crmExports.find((candidate) => candidate.source === name) ?? recognised;
}

/** The columns that a mapping file names. */
interface GivenColumns {
  readonly single: Partial<SingleColumns>;
  readonly emails: readonly number[] | undefined;
  readonly optOuts: readonly OptOutColumn[];
}

function takeGiven(columns: Columns, mapping: ExportMapping | undefined): GivenColumns {
  const given = mapping?.columns ?? {};
  const single = Object.fromEntries(
    singleFields.flatMap((field) =>
      given[field] === undefined ? [] : [[field, columns.take(given[field])] as const],
    ),
  ) as Partial<SingleColumns>;
  const emails = given.email === undefined ? undefined : columns.take(given.email);
  return { single, emails, optOuts: givenOptOuts(columns, mapping) };
}

/**
 * Beside a column of first names and none of last names, a column of names such as the German `Name` has last names,
 * unless its cells repeat the first names.
 */
function withLastNames(
  single: SingleColumns,
  given: Partial<SingleColumns>,
  rows: FirstRows['rows'],
): SingleColumns {
  const { first_name: first, last_name: last, name } = single;
  const isGiven = given.name !== undefined || given.last_name !== undefined;
  if (isGiven || first.length === 0 || last.length > 0 || name.length !== 1) return single;
  const both = rows
    .map((row) => ({
      first: comparisonForm(row[first[0]!] ?? ''),
      name: comparisonForm(row[name[0]!] ?? ''),
    }))
    .filter((cells) => cells.first !== '' && cells.name !== '');
  const whole = both.filter((cells) => ` ${cells.name} `.includes(` ${cells.first} `));
  return both.length > 2 * whole.length ? { ...single, last_name: name, name: [] } : single;
}

/** Without a column of other names, a column of first or whole names such as `Nombre` has whole names. */
function withWholeNames(
  single: SingleColumns,
  given: Partial<SingleColumns>,
  header: readonly string[],
): SingleColumns {
  const { first_name: first, last_name: last, name } = single;
  const mayBeWhole = (field: 'first_name' | 'last_name', names: ReadonlySet<string>): boolean =>
    given[field] === undefined && single[field].every((column) => names.has(headerKey(header[column]!)));
  if (last.length + name.length === 0 && mayBeWhole('first_name', firstOrWholeNames))
    return { ...single, name: first, first_name: [] };
  if (first.length + name.length === 0 && mayBeWhole('last_name', lastOrWholeNames))
    return { ...single, name: last, last_name: [] };
  return single;
}

/**
 * Takes the free columns `First` and `Last`, if the file then has both parts of the name: alone, such a header says too
 * little. A column with digits has no names, because `Last` can be a date.
 *
 * @param known the columns that are known by longer names
 * @returns the columns of the parts of the name that were not known
 */
function takeShortNames(
  columns: Columns,
  { header, rows }: FirstRows,
  known: Pick<SingleColumns, 'first_name' | 'last_name' | 'name'>,
): Partial<Pick<SingleColumns, 'first_name' | 'last_name' | 'name'>> {
  if (known.name.length > 0) return {};
  const free = (key: string): number[] =>
    [...header.keys()].filter(
      (column) =>
        headerKey(header[column]!) === key &&
        columns.isFree(column) &&
        rows.every((row) => !/\d/.test(row[column] ?? '')),
    );
  const { first_name: firstNames, last_name: lastNames } = known;
  const first = firstNames.length > 0 ? firstNames : free('first');
  const last = lastNames.length > 0 ? lastNames : free('last');
  // Two columns of one name: neither is chosen by guess.
  if ((firstNames.length === 0 && first.length !== 1) || (lastNames.length === 0 && last.length !== 1))
    return {};
  for (const column of [...first, ...last]) if (columns.isFree(column)) columns.take(column + 1);
  return { first_name: first, last_name: last };
}
