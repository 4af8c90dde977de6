import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { headersOfField, type ImportField } from '../domain/crm/crm.ts';
import { headerKey } from '../domain/text/header-name.ts';
import type { RunReport } from '../outputs/report-output.ts';
import type { RunRecord } from '../runs/runs.ts';

/** A field of the report. `after` counts it in `enriched_contacts`; by default its column is not null. */
interface MeasuredField {
  readonly field: string;
  readonly after?: RawBuilder<unknown>;
  /** The field's name in a mapping. The same column of `run_rows` has its normalised value. */
  readonly mapped?: string;
  /** Importer fields, in any language, and headers. Columns with these count if the mapping lacks the field. */
  readonly named?: { readonly fields: readonly ImportField[]; readonly headers: readonly string[] };
}

const noColumns = { fields: [], headers: [] };

const fields: readonly MeasuredField[] = [
  { field: 'email', mapped: 'email', named: { fields: ['email'], headers: ['email', 'mail'] } },
  { field: 'verified_email', after: sql`lower(c.email_status) = 'verified'` },
  {
    field: 'phone',
    named: { fields: ['phone', 'mobile_phone'], headers: ['phone', 'mobile', 'telephone'] },
  },
  { field: 'title', named: { fields: ['title'], headers: ['title', 'position'] } },
  { field: 'organization_name', mapped: 'organization_name' },
  { field: 'organization_domain', mapped: 'domain' },
  { field: 'linkedin_url', mapped: 'profile_url' },
  { field: 'city', named: { fields: ['city'], headers: ['city'] } },
  { field: 'country', named: { fields: ['country'], headers: ['country'] } },
];

/**
 * Counts the contacts with a value for each field, before and after the run. Before, normalised values count for mapped
 * fields, and cells that are not blank for others. Pruned runs have no fields.
 */
export async function readCoverage(database: Kysely<Tables>, run: RunRecord): Promise<RunReport['coverage']> {
  const known = new Set(Object.values(run.mapping ?? {}));
  const isFilled = (column: string): RawBuilder<unknown> => sql`${sql.ref(column)} is not null`;
  const measured = fields.map(({ field, after = isFilled(`c.${field}`), mapped, named = noColumns }) => {
    const headers = new Set([...named.fields.flatMap(headersOfField), ...named.headers].map(headerKey));
    const columns = (run.header ?? []).flatMap((cell, index) =>
      headers.has(headerKey(cell)) ? [index + 1] : [],
    );
    const before =
      mapped !== undefined && known.has(mapped)
        ? isFilled(`r.${mapped}`)
        : columns.length > 0 && sql`coalesce(raw.filled && ${columns}::bigint[], false)`;
    return { field, after, before };
  });
  const figures = measured.flatMap(({ before, after }, index) => [
    sql`count(*) filter (where ${before || sql`false`})::int as ${sql.ref(`before_${index}`)}`,
    sql`count(*) filter (where ${before || sql`false`} or ${after})::int as ${sql.ref(`after_${index}`)}`,
  ]);
  // Unlike jsonb, json accepts cells with \u0000. `cell::text` is JSON with quotes. A cell that is JSON without content
  // ([], {}, null) counts as blank.
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
