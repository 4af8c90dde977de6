import type { Warehouse } from '../../../src/db/database.ts';

/**
 * Returns how many rows and index entries PostgreSQL has read from each table. The warehouse needs one session
 * (`connections: 1`): a session reports its reads before it answers.
 */
export async function rowsReadByTable({ pool }: Warehouse): Promise<ReadonlyMap<string, number>> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ table: string; read: string }>(
    `select t.relname as table,
      t.seq_tup_read + coalesce(t.idx_tup_fetch, 0) + coalesce(sum(i.idx_tup_read), 0) as read
     from pg_stat_user_tables t
     left join pg_stat_user_indexes i on i.relid = t.relid
     group by t.relid, t.relname, t.seq_tup_read, t.idx_tup_fetch`,
  );
  return new Map(rows.map(({ table, read }) => [table, Number(read)]));
}

/**
 * Returns how many rows of a table PostgreSQL has read without an index. The warehouse needs one session, as for
 * `rowsReadByTable`.
 */
export async function rowsScanned({ pool }: Warehouse, table: string): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: string }>(
    'select seq_tup_read as read from pg_stat_user_tables where relname = $1',
    [table],
  );
  return Number(rows[0]!.read);
}

/** Returns the content of all tables as text, in which a test looks for data of an erased person. */
export async function readAllTablesAsText({ pool }: Warehouse): Promise<string> {
  const tables = await pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname like 'enrichment%'`,
  );
  const dumps = await Promise.all(
    tables.rows.map(({ name }) =>
      pool.query<{ dump: string | null }>(`select string_agg(t::text, E'\\n') as dump from ${name} t`),
    ),
  );
  return dumps.map(({ rows }) => rows[0]!.dump ?? '').join('\n');
}

/** Returns the sample values of columns that PostgreSQL keeps as statistics, as text. */
export async function readColumnStatistics({ pool }: Warehouse): Promise<string> {
  const { rows } = await pool.query<{ dump: string }>(
    `select coalesce(string_agg(s::text, E'\\n'), '') as dump from pg_stats s where schemaname like 'enrichment%'`,
  );
  return rows[0]!.dump;
}
