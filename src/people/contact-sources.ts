import type { Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';

/** The sources that have contacts with data, by name. */
export async function contactSources(database: Kysely<Tables>): Promise<readonly string[]> {
  const rows = await database.selectFrom('contacts').select('source').distinct().orderBy('source').execute();
  return rows.map(({ source }) => source);
}
