import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { headersOfField, type ImportField } from '../domain/crm/crm.ts';
import { headerKey } from '../domain/text/header-name.ts';
import type { RunReport } from '../outputs/report-output.ts';
import type { RunRecord } from '../runs/runs.ts';

interface MeasuredField {
  readonly field: string;
  readonly after: RawBuilder<unknown>;
  /** The field's name in the mapping, and whether a row has a normalised value. */
  readonly mapped?: { readonly name: string; readonly filled: RawBuilder<unknown> };
  /** Fields of importers, and further headers, whose columns count where the mapping has no such field. */
  readonly named?: { readonly fields: readonly ImportField[]; readonly headers: readonly string[] };
}

const fields: readonly MeasuredField[] = [
  {
    field: 'email',
    after: sql`c.email is not null`,
    mapped: { name: 'email', filled: sql`r.email is not null` },
    named: { fields: ['email'], headers: ['email', 'mail'] },
  },
  { field: 'verified_email', after: sql`lower(c.email_status) = 'verified'` },
  {
    field: 'phone',
    after: sql`c.phone is not null`,
    named: { fields: ['phone', 'mobile_phone'], headers: ['phone', 'mobile', 'telephone'] },
  },
  {
    field: 'title',
    after: sql`c.title is not null`,
    named: { fields: ['title'], headers: ['title', 'position'] },
  },
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
  { field: 'city', after: sql`c.city is not null`, named: { fields: ['city'], headers: ['city'] } },
  {
    field: 'country',
    after: sql`c.country is not null`,
    named: { fields: ['country'], headers: ['country'] },
  },
];

/**
 * Counts the contacts of the file that have each field, in the export and afterwards. Mapped fields count as
 * normalised; of other fields a cell counts that is not blank, in a column with a header of the field.
 *
 * @param run whose file is staged
 * @returns no fields if the rows of the file have been pruned
 */
export async function readCoverage(database: Kysely<Tables>, run: RunRecord): Promise<RunReport['coverage']> {
  const known = new Set(Object.values(run.mapping ?? {}));
  const measured = fields.map(({ field, after, mapped, named }) => {
    const columns = named ? columnsOf(run.header ?? [], named) : [];
    const before =
      mapped && known.has(mapped.name)
        ? mapped.filled
        : columns.length > 0 && sql`coalesce(raw.filled && ${columns}::bigint[], false)`;
    return { field, after, before };
  });
  const figures = measured.flatMap(({ before, after }, index) => [
    sql`count(*) filter (where ${before || sql`false`})::int as ${sql.ref(`before_${index}`)}`,
    sql`count(*) filter (where ${before || sql`false`} or ${after})::int as ${sql.ref(`after_${index}`)}`,
  ]);
  // json accepts cells with \u0000, jsonb does not. `cell::text` is JSON with its quotes. A cell that is JSON
  // without content ([], {}, null) is blank.
  const found = await sql<Readonly<Record<string, number>>>`
    select count(*)::int as contacts, ${sql.join(figures)}
    from run_rows r
    left join enriched_contacts c
      on c.source = ${run.source} and c.contact_id = r.contact_id
    cross join lateral (
      select array_agg(number) as filled
      from json_array_elements(r.raw::json) with ordinality as e (cell, number)
      where cell::text ~ '[^][}{"[:space:]]' and cell::text !~ '^"?null"?$'
    ) raw
    where r.run_id = ${run.runId} and (r.outcome is null or r.outcome not in ('malformed', 'duplicate'))
  `.execute(database);
  const counts = found.rows[0]!;
  return {
    contacts: counts['contacts'] ?? 0,
    fields: (run.rowsPruned > 0 ? [] : measured).map(({ field, before }, index) => {
      const filled = counts[`before_${index}`] ?? 0;
      const after = counts[`after_${index}`] ?? 0;
      return { field, before: before ? filled : null, after, gained: after - filled };
    }),
  };
}

/** The numbers of the columns, from 1, whose header importers know in any language, or that is one of `headers`. */
function columnsOf(header: readonly string[], named: NonNullable<MeasuredField['named']>): number[] {
  const keys = new Set([...named.fields.flatMap(headersOfField), ...named.headers].map(headerKey));
  return header.flatMap((cell, index) => (keys.has(headerKey(cell)) ? [index + 1] : []));
}
