import type { Warehouse } from '../../src/db/database.ts';

/** Everything that the schema holds, as text: what no person must be found in who was erased. */
export async function everything({ pool }: Warehouse): Promise<string> {
  const tables = await pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'enrichment'`,
  );
  const dumps = await Promise.all(
    tables.rows.map(({ name }) =>
      pool.query<{ dump: string | null }>(`select string_agg(t::text, E'\\n') as dump from ${name} t`),
    ),
  );
  return dumps.map(({ rows }) => rows[0]!.dump ?? '').join('\n');
}
