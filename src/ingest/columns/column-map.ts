import { Problem, exitCodes } from '../../domain/problem.ts';
import { Columns } from './columns.ts';
import { headerKey, headerName, shownHeader } from './header-name.ts';
import {
  commonNames,
  knownExports,
  singleFields,
  type Field,
  type KnownExport,
  type SingleField,
} from './known-exports.ts';
import type { ExportMapping } from './mapping-file.ts';
import { optOutPolarity, type OptOutPolarity } from './opt-out.ts';

export interface OptOutColumn {
  readonly column: number;
  readonly polarity: OptOutPolarity;
  /** Values in lower case that mean "opted out", in place of the rule of the polarity. */
  readonly values?: ReadonlySet<string>;
}

/** Which cells of a record hold what: positions from 0, in order of preference. */
export interface ColumnMap {
  readonly source: string;
  readonly single: Readonly<Record<SingleField, readonly number[]>>;
  readonly emails: readonly number[];
  readonly optOuts: readonly OptOutColumn[];
  readonly warnings: readonly string[];
}

/** The CRM whose signature a header bears whole; undefined where it bears none. */
export function recogniseExport(header: readonly string[]): KnownExport | undefined {
  const names = header.map(headerName);
  const present = (name: string): boolean =>
    name.endsWith('…')
      ? names.some((candidate) => candidate.startsWith(name.slice(0, -1)))
      : names.includes(name);
  return knownExports.find((known) =>
    known.signatures.some((signature) => signature.every((name) => name.split('|').some(present))),
  );
}

/**
 * Decides which column holds what. The mapping file goes first, then the recognised CRM, then common names; no column
 * is taken twice, and of two columns of one name none is taken by guess.
 *
 * @param options.source the name to file the contacts under; the name of a known CRM also says whose columns these are
 * @throws Problem `mapping.unknown-column`, `mapping.ambiguous`, `mapping.opt-out-ignored`,
 *   `export.no-identifying-column`
 */
export function mapColumns(
  path: string,
  layout: { readonly header: readonly string[]; readonly recognised: boolean },
  options: { mapping?: ExportMapping | undefined; source?: string | undefined },
): ColumnMap {
  const { header } = layout;
  const { mapping } = options;
  const name = options.source ?? mapping?.source;
  const known = knownExports.find((candidate) => candidate.source === name) ?? recogniseExport(header);
  const columns = new Columns(path, header, layout.recognised);

  const given = mapping?.columns ?? {};
  const single: Partial<Record<SingleField, number[]>> = {};
  for (const field of singleFields) {
    if (given[field] !== undefined) single[field] = columns.take(given[field]);
  }
  const givenEmails = given.email === undefined ? undefined : columns.take(given.email);
  const optOuts = givenOptOuts(columns, given.opted_out);
  refuseIgnoredOptOuts(columns, mapping?.ignore, optOuts);

  for (const field of singleFields) {
    const names = [...(known?.fields[field] ?? []), ...(commonNames[field] ?? [])];
    single[field] ??= columns.claim(field, names);
  }
  const emails =
    givenEmails ?? columns.claim('email', [...(known?.fields.email ?? []), ...(commonNames.email ?? [])]);
  for (const column of header.keys()) {
    const polarity = columns.isFree(column) ? optOutPolarity(header[column]!) : undefined;
    if (polarity !== undefined) optOuts.push({ column, polarity });
  }
  const stage = known?.source === 'service' ? columns.claim('opted_out', ['Stage']) : [];
  for (const column of stage) {
    optOuts.push({ column, polarity: 'consent', values: new Set(['do not contact']) });
  }

  const map: ColumnMap = {
    source: name ?? known?.source ?? 'generic',
    single: single as Record<SingleField, number[]>,
    emails,
    optOuts,
    warnings: warningsOf(header),
  };
  refuseWithoutPeople(columns, map);
  return map;
}

/**
 * The record of what was chosen: raw header → field. Of two columns with one name, the second is shown with its number.
 */
export function describeColumns(
  header: readonly string[],
  map: ColumnMap,
): { mapping: Record<string, Field>; ignored: string[] } {
  const fields = new Map<number, Field>();
  for (const field of singleFields) for (const column of map.single[field]) fields.set(column, field);
  for (const column of map.emails) fields.set(column, 'email');
  for (const { column } of map.optOuts) fields.set(column, 'opted_out');
  const entries: [string, Field][] = [];
  const ignored: string[] = [];
  for (const [column, name] of header.entries()) {
    const field = fields.get(column);
    const shown = header.indexOf(name) === column ? name : `${name} (column ${column + 1})`;
    if (field) entries.push([shown, field]);
    else ignored.push(shown);
  }
  // Not by assignment: a column may be called __proto__.
  return { mapping: Object.fromEntries(entries), ignored };
}

function givenOptOuts(
  columns: Columns,
  given: NonNullable<ExportMapping['columns']>['opted_out'],
): OptOutColumn[] {
  const list = given === undefined ? [] : Array.isArray(given) ? given : [given];
  return list.map((entry) => {
    const reference = typeof entry === 'object' ? entry.column : entry;
    const [column] = columns.take(reference);
    const polarity = optOutPolarity(columns.nameOf(column!)) ?? 'refusal';
    return typeof entry === 'object'
      ? { column: column!, polarity, values: new Set(entry.values.map((value) => value.toLowerCase())) }
      : { column: column!, polarity };
  });
}

function refuseIgnoredOptOuts(
  columns: Columns,
  ignore: ExportMapping['ignore'],
  optOuts: readonly OptOutColumn[],
): void {
  if (ignore === undefined) return;
  for (const column of columns.take(ignore)) {
    if (optOutPolarity(columns.nameOf(column)) === undefined) continue;
    if (optOuts.some((optOut) => optOut.column === column)) continue;
    throw new Problem(
      'mapping.opt-out-ignored',
      `column "${shownHeader(columns.nameOf(column))}" says who must not be processed, and cannot be ignored`,
      {
        where: 'ignore in the mapping file',
        next: 'say which of its values mean so: {"columns": {"opted_out": {"column": "…", "values": ["yes"]}}}',
        exitCode: exitCodes.usage,
      },
    );
  }
}

function refuseWithoutPeople(columns: Columns, map: ColumnMap): void {
  const { single } = map;
  const named = single.name.length > 0 || (single.first_name.length > 0 && single.last_name.length > 0);
  const employed = single.organization_name.length > 0 || single.domain.length > 0;
  const identified =
    map.emails.length + single.hashed_email.length + single.profile_url.length + single.person_id.length > 0;
  if (identified || (named && employed)) return;
  throw new Problem(
    'export.no-identifying-column',
    'no column tells who the people are: none is known as email, profile URL, or name with company',
    {
      where: columns.where(),
      next: 'say which columns they are in a mapping file, --mapping FILE: {"columns": {"email": "NAME OF THE COLUMN"}}',
      exitCode: exitCodes.usage,
    },
  );
}

function warningsOf(header: readonly string[]): string[] {
  const privacyRecord = header.find((name) => headerKey(name) === 'individualid');
  return privacyRecord === undefined
    ? []
    : [
        `column "${privacyRecord}" points to privacy settings that are not in this file: nobody is left out because of them`,
      ];
}
