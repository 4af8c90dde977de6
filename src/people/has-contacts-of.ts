import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';

/** Whether a contact has data of this service. @param choice only contacts of this CRM, or last written by this run */
export async function hasContactsOf(
  { database }: Warehouse,
  service: string,
  { source, runId }: { readonly source: string | undefined; readonly runId: string | undefined },
): Promise<boolean> {
  const { rows } = await sql`
    select
    from contacts
    where service = ${service}
      and source = coalesce(${source ?? null}, source)
      and run_id = coalesce(${runId ?? null}, run_id)
    limit 1
  `.execute(database);
  return rows.length > 0;
}
