import type { Warehouse } from '../../../src/db/database.ts';

/** A contact as the warehouse has it; undefined: the contact has no person. */
export async function readContact(
  { pool }: Warehouse,
  contactId: string,
): Promise<Record<string, unknown> | undefined> {
  const { rows } = await pool.query<Record<string, unknown>>(
    'select * from enriched_contacts where contact_id = $1',
    [contactId],
  );
  return rows[0];
}
