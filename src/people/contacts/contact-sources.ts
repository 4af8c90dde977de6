import type { Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';

/**
 * The sources that have contacts with data, by name.
 *
 * @param runId only of contacts that have their person from this run
 */
export async function contactSources(database: Kysely<Tables>, runId?: string): Promise<readonly string[]> {
  const rows = await database
    .selectFrom('contacts')
    .select('source')
    .distinct()
    .$if(runId !== undefined, (query) => query.where('run_id', '=', runId!))
    .orderBy('source')
    .execute();
  return rows.map(({ source }) => source);
}
