import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { RunRecord } from '../../runs/runs.ts';
import type { Tables } from '../../db/schema.ts';
import { columnsNamed, type NamedField } from './column-names.ts';
import type { Coverage, FieldCoverage } from '../report-types.ts';

interface MeasuredField {
  readonly field: string;
  readonly after: RawBuilder<unknown>;
  /** The field's name in the mapping, and whether a row has a normalised value. */
  readonly mapped?: { readonly name: string; readonly filled: RawBuilder<unknown> };
  /** For fields without a mapping: the field whose columns are found by their names. */
  readonly named?: NamedField;
}

const fields: readonly MeasuredField[] = [
  {
    field: 'email',
    after: sql`c.email is not null`,
    mapped: { name: 'email', filled: sql`r.email is not null` },
    named: 'email',
  },
  { field: 'verified_email', after: sql`lower(c.email_status) = 'verified'` },
  {
    field: 'phone',
    after: sql`c.phone is not null`,
    named: 'phone',
  },
  { field: 'title', after: sql`c.title is not null`, named: 'title' },
  {
    field: 'organization_name',
    after: sql`c.organization_name is not null`,
    mapped: { name: 'organization_name', filled: sql`r.organization_name is not null` },
  },
  {
    field: 'organization_domain',
    after: sql`c.organization_domain is not null`,
    mapped: { name: 'domain', filled: sql`r.domain is not null` },
  },
  {
    field: 'linkedin_url',
    after: sql`c.linkedin_url is not null`,
    mapped: { name: 'profile_url', filled: sql`r.profile_url is not null` },
  },
  { field: 'city', after: sql`c.city is not null`, named: 'city' },
  { field: 'country', after: sql`c.country is not null`, named: 'country' },
];

/**
 * Counts the contacts of the file that have each field, in the export and afterwards. Mapped fields count as
 * normalised; of other fields a cell counts that is not blank, in a column that `columnsNamed()` finds.
 *
 * @param run whose file is staged
 * @returns no fields if the rows of the file have been pruned
 */
export async function readCoverage(database: Kysely<Tables>, run: RunRecord): Promise<Coverage> {
  const known = new Set(Object.values(run.mapping ?? {}));
  const measured = fields.map(({ field, after, mapped, named }, index) => {
    if (mapped && known.has(mapped.name)) return { field, after, columns: [], before: mapped.filled };
    const numbers = named === undefined ? [] : columnsNamed(run.header ?? [], named);
    const before =
      numbers.length === 0 ? undefined : sql`coalesce(cells.${sql.ref(`field_${index}`)}, false)`;
    return { field, after, columns: numbers, before };
  });
  const figures = measured.flatMap(({ before = sql`false`, after }, index) => [
    sql`count(*) filter (where ${before})::int as ${sql.ref(`before_${index}`)}`,
    sql`count(*) filter (where ${before} or ${after})::int as ${sql.ref(`after_${index}`)}`,
  ]);
  const found = await sql<Readonly<Record<string, number>>>`
    select count(*)::int as contacts, ${sql.join(figures)}
    from run_rows r
    left join enriched_contacts c
      on c.source = ${run.source} and c.contact_id = r.contact_id
    ${cellsOf(measured.map(({ columns }) => columns))}
    where r.run_id = ${run.runId} and (r.outcome is null or r.outcome not in ('malformed', 'duplicate'))
  `.execute(database);
  const counts = found.rows[0]!;
  return {
    contacts: counts['contacts'] ?? 0,
    fields: (run.rowsPruned > 0 ? [] : measured).map(({ field, before }, index): FieldCoverage => {
      const filled = counts[`before_${index}`] ?? 0;
      const after = counts[`after_${index}`] ?? 0;
      return { field, before: before ? filled : null, after, gained: after - filled };
    }),
  };
}

/**
 * A join that says whether the raw record has a cell that is not blank in any of a field's columns; empty if
 * no field needs the record.
 */
function cellsOf(columns: readonly (readonly number[])[]): RawBuilder<unknown> {
  const wanted = columns.flat();
  if (wanted.length === 0) return sql``;
  const flags = columns.flatMap((numbers, index) =>
    numbers.length === 0
      ? []
      : [sql`bool_or(filled) filter (where number = any(${numbers}::int[])) as ${sql.ref(`field_${index}`)}`],
  );
  // json accepts cells with \u0000, jsonb does not. `cell::text` is JSON with its quotes. A cell that is JSON
  // without content ([], {}, null) is blank.
  return sql`
    cross join lateral (
      select ${sql.join(flags)}
      from (
        select number, cell::text ~ '[^][}{"[:space:]]' and cell::text !~ '^"?null"?$' as filled
        from json_array_elements(r.raw::json) with ordinality as e (cell, number)
        where number = any(${wanted}::int[])
      ) cell
    ) cells`;
}
