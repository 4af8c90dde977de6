import { hasLastNamesFirst } from '../../domain/identity/normalise.ts';
import { firstOrWhole, lastOrWhole } from '../../domain/crm/local-headers.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { columnWarnings } from './column-warnings.ts';
import { Columns } from './columns.ts';
import { headerKey, shownHeader } from '../../domain/text/header-name.ts';
import { commonNames } from './common-names.ts';
import { singleFields, type Field, type SingleField } from './fields.ts';
import { knownExports, type KnownExport } from './known-exports.ts';
import type { ExportMapping } from './mapping-file.ts';
import { valueForm } from './opt-outs/opt-out-answers.ts';
import { describesOptOut, optOutOf, type OptOutMeaning, type OptOutScope } from './opt-outs/opt-out.ts';
import { otherObjectOf } from './other-object.ts';
import { recogniseOwnFile } from './own-file.ts';
import { recogniseExport } from './recognise-export.ts';
import { takeShortNames } from './short-names.ts';

export interface OptOutColumn extends OptOutMeaning {
  readonly column: number;
  /** Values, by `valueForm`, that mean "opted out", in place of the rule of the polarity. */
  readonly values?: ReadonlySet<string>;
  /** The column has the time, reason or source of opt-outs, so that any text is an answer. */
  readonly isDescription?: boolean;
}

type SingleColumns = Readonly<Record<SingleField, readonly number[]>>;

/** The columns of each field: positions from 0, in order of preference. */
export interface ColumnMap {
  readonly source: string;
  readonly single: SingleColumns;
  readonly emails: readonly number[];
  /** Columns of whole names in which the last name comes first. */
  readonly lastNameFirst: ReadonlySet<number>;
  readonly optOuts: readonly OptOutColumn[];
  /** The column that must name `source` in every row; undefined: all rows of the file are of one source. */
  readonly sourceColumn: number | undefined;
  readonly warnings: readonly string[];
}

const firstNames = new Set(firstOrWhole.map(headerKey));
const lastNames = new Set(lastOrWhole.map(headerKey));

/**
 * Assigns columns to fields: first by the mapping file, then by the recognised CRM, then by common names. Each column
 * is used once. If two columns have the same name, neither is chosen by guess.
 *
 * @param source the source of the contacts; the name of a known CRM also says whose columns these are
 * @throws Problem `mapping.unknown-column`, `mapping.ambiguous`, `mapping.column-named-twice`,
 *   `mapping.opt-out-ignored`, `export.no-identifying-column`, `export.other-object`, `export.mixed-sources`
 */
export function mapColumns(
  path: string,
  layout: {
    readonly header: readonly string[];
    readonly recognised: boolean;
    readonly rows: readonly (readonly string[])[];
  },
  { mapping, source }: { mapping?: ExportMapping | undefined; source?: string | undefined },
): ColumnMap {
  const { header, rows } = layout;
  const chosen = source ?? mapping?.source;
  const own = chosen === undefined ? recogniseOwnFile(path, header, rows) : undefined;
  const name = chosen ?? own?.source;
  const known = knownExportOf(name, header, rows);
  const columns = new Columns(path, header, layout.recognised);

  const given = takeGiven(columns, mapping);
  const namesOf = (field: SingleField | 'email'): string[] => [
    ...(field === 'contact_id' ? (own?.idNames ?? []) : []),
    ...(known?.fields[field] ?? []),
    ...(commonNames[field] ?? []),
  ];
  const claimed = Object.fromEntries(
    singleFields.map((field) => [field, given.single[field] ?? columns.claim(field, namesOf(field))]),
  ) as unknown as SingleColumns;
  const named = { ...claimed, ...takeShortNames(columns, layout, claimed) };
  const single = withWholeNames(named, given.single, header);
  const emails = given.emails ?? columns.claim('email', namesOf('email'));
  const optOuts = [...given.optOuts, ...namedOptOuts(columns, header), ...stageOptOuts(columns, known)];
  const map: ColumnMap = {
    source: name ?? known?.source ?? 'generic',
    single,
    emails,
    lastNameFirst: new Set(
      single.name.filter((column) =>
        hasLastNamesFirst(
          rows.map((row) => ({ name: row[column] ?? '', address: row[emails[0] ?? -1] ?? '' })),
        ),
      ),
    ),
    optOuts,
    sourceColumn: own?.sourceColumn,
    warnings: columnWarnings(
      columns,
      layout,
      known ? 'recognised' : chosen === undefined ? 'unknown' : 'named',
      {
        ...single,
        email: emails,
        opted_out: optOuts.filter(({ scope }) => scope === 'processing').map(({ column }) => column),
      },
    ),
  };
  refuseWithoutPeople(columns, header, map, mapping);
  return map;
}

/** The CRM of this name; without one, the CRM that the header shows. */
function knownExportOf(
  name: string | undefined,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): KnownExport | undefined {
  const recognised = recogniseExport(header, rows);
  // HubSpot has two kinds of exports.
  if (recognised?.source === name) return recognised;
  return knownExports.find((candidate) => candidate.source === name) ?? recognised;
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
  const optOuts = [
    ...givenOptOuts(columns, given.opted_out, 'processing'),
    ...givenOptOuts(columns, given.opted_out_of_calls, 'calls'),
  ];
  refuseIgnoredOptOuts(columns, mapping?.ignore);
  return { single, emails, optOuts };
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
  if (last.length + name.length === 0 && mayBeWhole('first_name', firstNames))
    return { ...single, name: first, first_name: [] };
  if (first.length + name.length === 0 && mayBeWhole('last_name', lastNames))
    return { ...single, name: last, last_name: [] };
  return single;
}

/** Free columns that say by their names who has opted out. */
function namedOptOuts(columns: Columns, header: readonly string[]): OptOutColumn[] {
  return [...header.entries()].flatMap(([column, name]) => {
    const meaning = columns.isFree(column) ? optOutOf(name) : undefined;
    return meaning === undefined ? [] : [{ column, ...meaning, isDescription: describesOptOut(name) }];
  });
}

/** The service's own export has a stage for people who must not be contacted. */
function stageOptOuts(columns: Columns, known: KnownExport | undefined): OptOutColumn[] {
  const stages = known?.source === 'service' ? columns.claim('opted_out', ['Stage']) : [];
  const values = new Set(['do not contact']);
  return stages.map((column) => ({ column, polarity: 'consent', scope: 'processing', values }));
}

/** The recorded mapping: raw header → field. If two columns have the same name, the second is shown with its number. */
export function describeColumns(
  header: readonly string[],
  map: ColumnMap,
): { mapping: Record<string, Field>; ignored: string[] } {
  const fields = new Map<number, Field>();
  for (const field of singleFields) for (const column of map.single[field]) fields.set(column, field);
  for (const column of map.emails) fields.set(column, 'email');
  for (const { column, scope } of map.optOuts) fields.set(column, fieldOfScope[scope]);
  const entries: [string, Field][] = [];
  const ignored: string[] = [];
  for (const [column, shown] of recordedNames(header).entries()) {
    const field = fields.get(column);
    if (field) entries.push([shown, field]);
    else ignored.push(shown);
  }
  // Not by assignment: a column may be called __proto__.
  return { mapping: Object.fromEntries(entries), ignored };
}

/** The fields of a header's columns, from the recorded mapping. */
export function fieldsOfHeader<Chosen>(
  header: readonly string[],
  mapping: Readonly<Record<string, Chosen>>,
): (Chosen | undefined)[] {
  return recordedNames(header).map((name) =>
    // A column may be called constructor.
    Object.hasOwn(mapping, name) ? mapping[name] : undefined,
  );
}

/** The names of a header's columns in the recorded mapping. */
export function recordedNames(header: readonly string[]): string[] {
  const seen = new Set<string>();
  return header.map((name, column) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated ? `${name} (column ${column + 1})` : name;
  });
}

const fieldOfScope = {
  processing: 'opted_out',
  calls: 'opted_out_of_calls',
} as const satisfies Record<OptOutScope, Field>;

function givenOptOuts(
  columns: Columns,
  given: NonNullable<ExportMapping['columns']>['opted_out'],
  scope: OptOutScope,
): OptOutColumn[] {
  const list = given === undefined ? [] : Array.isArray(given) ? given : [given];
  return list.map((entry) => {
    const reference = typeof entry === 'object' ? entry.column : entry;
    const [column] = columns.take(reference);
    const polarity = optOutOf(columns.nameOf(column!))?.polarity ?? 'refusal';
    const isDescription = describesOptOut(columns.nameOf(column!));
    const read = { column: column!, polarity, scope, isDescription };
    return typeof entry === 'object' ? { ...read, values: new Set(entry.values.map(valueForm)) } : read;
  });
}

function refuseIgnoredOptOuts(columns: Columns, ignore: ExportMapping['ignore']): void {
  if (ignore === undefined) return;
  for (const column of columns.take(ignore)) {
    const meaning = optOutOf(columns.nameOf(column));
    if (meaning === undefined) continue;
    const forbidden = meaning.scope === 'calls' ? 'called' : 'processed';
    throw new UsageProblem(
      'mapping.opt-out-ignored',
      `column "${shownHeader(columns.nameOf(column))}" says who must not be ${forbidden}, and cannot be ignored`,
      {
        where: 'ignore in the mapping file',
        next:
          `list the values that mean so: {"columns": {"${fieldOfScope[meaning.scope]}": {"column": "…", ` +
          '"values": ["yes"]}}}',
      },
    );
  }
}

/**
 * Refuses a file without people: no column identifies people, or there is only a column `name` beside columns of
 * companies or deals.
 */
function refuseWithoutPeople(
  columns: Columns,
  header: readonly string[],
  map: ColumnMap,
  mapping: ExportMapping | undefined,
): void {
  const { single } = map;
  const inParts = single.first_name.length > 0 && single.last_name.length > 0;
  const employed = single.organization_name.length > 0 || single.domain.length > 0;
  const identified =
    map.emails.length + single.hashed_email.length + single.profile_url.length + single.person_id.length > 0;
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
      `the file is an export of ${other}, and tells of no person`,
      {
        where: columns.where(),
        next:
          `export contacts (people) in place of ${other}; if the rows are people, say which columns they are: ` +
          '--mapping FILE',
      },
    );
  }
  throw new UsageProblem(
    'export.no-identifying-column',
    'no column tells who the people are: none is known as email, profile URL, or name with company',
    {
      where: columns.where(),
      next:
        'say which columns they are in a mapping file, --mapping FILE: {"columns": {"email": "NAME OF THE ' +
        'COLUMN"}}; enrich plan proposes one',
    },
  );
}
