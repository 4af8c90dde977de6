import type { Warehouse } from '../../src/db/database.ts';

/**
 * Returns how many rows of a table PostgreSQL has read without an index. The warehouse needs one session (`connections:
 * 1`): a session reports its reads before it answers.
 */
export async function rowsScanned({ pool }: Warehouse, table: string): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: string }>(
    'select seq_tup_read as read from pg_stat_user_tables where relname = $1',
    [table],
  );
  return Number(rows[0]!.read);
}
