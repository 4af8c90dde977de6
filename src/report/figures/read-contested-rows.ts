import type { Kysely } from 'kysely';
import { rowCount } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';

/** Counts the rows whose record id names different people in the file: the run asks for none of them. */
export async function readContestedRows(database: Kysely<Tables>, runId: string): Promise<number> {
  const { rows } = await database
    .selectFrom('run_rows')
    .select(rowCount.as('rows'))
    .where('run_id', '=', runId)
    .where('is_contested', '=', true)
    .executeTakeFirstOrThrow();
  return rows;
}
