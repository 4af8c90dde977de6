import type { Kysely } from 'kysely';
import { rowCount } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';
import type { LostContacts } from '../report-types.ts';

/** Counts the rows whose contact has lost the person whom it had by the row, by reason. */
export async function readLostContacts(
  database: Kysely<Tables>,
  runId: string,
): Promise<readonly LostContacts[]> {
  return database
    .selectFrom('row_results')
    .select((row) => [row.ref('lost_reason').$notNull().as('reason'), rowCount.as('rows')])
    .where('run_id', '=', runId)
    .where('lost_reason', 'is not', null)
    .groupBy('lost_reason')
    .orderBy('rows', 'desc')
    .orderBy('lost_reason')
    .execute();
}

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
