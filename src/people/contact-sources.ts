import { sql, type Kysely } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { UsageProblem } from '../domain/problem.ts';

/**
 * Refuses a source (the CRM that exports come from) if no run has read an export of it.
 *
 * @throws Problem `source.unknown` with the sources of the warehouse
 */
export async function requireSource(database: Kysely<Tables>, source: string): Promise<void> {
  const { rows } = await sql<{ source: string }>`
    select distinct source from runs where source is not null order by source
  `.execute(database);
  const known = rows.map((row) => row.source);
  if (known.includes(source)) return;
  throw new UsageProblem('source.unknown', `the warehouse has no source "${source}"`, {
    where: '--source',
    next: known.length === 0 ? 'enrich an export first: enrich run FILE' : `write one of ${known.join(', ')}`,
  });
}

/**
 * True if a contact of the warehouse has data of this service.
 *
 * @param choice limits the check to contacts of one CRM (`source`) or to people found by one run (`runId`)
 */
export async function hasContactsOfService(
  { database }: Warehouse,
  service: string,
  { source, runId }: { readonly source: string | undefined; readonly runId: string | undefined },
): Promise<boolean> {
  const { rows } = await sql`
    select from contact_matches
    where valid_to is null and service = ${service} and source = coalesce(${source ?? null}, source)
      and run_id = coalesce(${runId ?? null}, run_id)
    limit 1
  `.execute(database);
  return rows.length > 0;
}
