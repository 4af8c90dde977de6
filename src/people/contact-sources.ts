import type { Kysely } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { UsageProblem } from '../domain/problem.ts';

/**
 * Refuses a source (the CRM that exports come from) if no run has read an export of it.
 *
 * @throws Problem `source.unknown` with the sources of the warehouse
 */
export async function requireSource(database: Kysely<Tables>, source: string): Promise<void> {
  const rows = await database
    .selectFrom('runs')
    .select('source')
    .distinct()
    .where('source', 'is not', null)
    .orderBy('source')
    .execute();
  const known = rows.flatMap((row) => row.source ?? []);
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
  const contact = await database
    .selectFrom('contact_matches')
    .where('valid_to', 'is', null)
    .select('contact_id')
    .where('service', '=', service)
    .$if(source !== undefined, (contacts) => contacts.where('source', '=', source!))
    .$if(runId !== undefined, (contacts) => contacts.where('run_id', '=', runId!))
    .limit(1)
    .executeTakeFirst();
  return contact !== undefined;
}
