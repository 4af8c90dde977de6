import type { Warehouse } from '../../db/database.ts';

/**
 * Whether a contact has data of this service.
 *
 * @param choice only contacts of this CRM, or with their person from this run
 */
export async function hasContactsOf(
  { database }: Warehouse,
  service: string,
  { source, runId }: { readonly source: string | undefined; readonly runId: string | undefined },
): Promise<boolean> {
  const contact = await database
    .selectFrom('contacts')
    .select('contact_id')
    .where('service', '=', service)
    .$if(source !== undefined, (contacts) => contacts.where('source', '=', source!))
    .$if(runId !== undefined, (contacts) => contacts.where('run_id', '=', runId!))
    .limit(1)
    .executeTakeFirst();
  return contact !== undefined;
}
