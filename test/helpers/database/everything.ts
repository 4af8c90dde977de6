import type { Warehouse } from '../../../src/db/database.ts';

/** The content of all tables as text, which must not have anything of an erased person. */
export async function everything({ pool }: Warehouse): Promise<string> {
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

/** What PostgreSQL keeps of the values of the columns as text. */
export async function samples({ pool }: Warehouse): Promise<string> {
  const { rows } = await pool.query<{ dump: string }>(
    `select coalesce(string_agg(s::text, E'\\n'), '') as dump from pg_stats s where schemaname like 'enrichment%'`,
  );
  return rows[0]!.dump;
}
