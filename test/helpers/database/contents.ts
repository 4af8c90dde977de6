import type { Warehouse } from '../../../src/db/database.ts';
import type { TestWarehouse } from './test-warehouse.ts';
import type { Pool } from 'pg';
import { expect } from 'vitest';
import { rebuild } from '../../../src/people/rebuild.ts';
import { noSignal } from '../warehouse/rows.ts';

/**
 * Returns how many rows and index entries PostgreSQL has read from each table. The warehouse needs one session
 * (`connections: 1`): a session reports its reads before it answers.
 */
export async function rowsReadByTable(warehouse: TestWarehouse): Promise<ReadonlyMap<string, number>> {
  await warehouse.query`select pg_stat_force_next_flush()`;
  const rows = await warehouse.query<{ table: string; read: string }>`
    select t.relname as table,
      t.seq_tup_read + coalesce(t.idx_tup_fetch, 0) + coalesce(sum(i.idx_tup_read), 0) as read
    from pg_stat_user_tables t
    left join pg_stat_user_indexes i on i.relid = t.relid
    group by t.relid, t.relname, t.seq_tup_read, t.idx_tup_fetch`;
  return new Map(rows.map(({ table, read }) => [table, Number(read)]));
}

/**
 * Returns how many rows of a table PostgreSQL has read without an index. The warehouse needs one session, as for
 * `rowsReadByTable`.
 */
export async function rowsScanned(warehouse: TestWarehouse, table: string): Promise<number> {
  await warehouse.query`select pg_stat_force_next_flush()`;
  const rows = await warehouse.query<{ read: string }>`
    select seq_tup_read as read from pg_stat_user_tables where relname = ${table}`;
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
export async function readColumnStatistics(warehouse: TestWarehouse): Promise<string> {
  const rows = await warehouse.query<{ dump: string }>`
    select coalesce(string_agg(s::text, E'\\n'), '') as dump from pg_stats s where schemaname like 'enrichment%'`;
  return rows[0]!.dump;
}

/** Expects that a rebuild from the log gives the same warehouse. It computes every person again. */
export async function expectRebuildEqual(warehouse: Warehouse): Promise<void> {
  expect(await rebuild(warehouse, { check: true, signal: noSignal })).toMatchObject({
    differing: [],
    complete: true,
  });
}

/** Waits until statements of the database wait for a lock. @param count number of these statements */
export function untilLockAwaited({ pool }: { readonly pool: Pool }, count = 1): Promise<void> {
  const waiting = `
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return expect.poll(async () => (await pool.query(waiting)).rowCount, { interval: 10 }).toBe(count);
}

/** Reads all tables that the digest computes, to compare their content. */
export function readComputedTables({ pool }: Warehouse): Promise<unknown[]> {
  const tables = [
    'enriched_contacts',
    'people',
    'person_history',
    'organizations',
    'person_phones',
    'person_emails',
  ];
  return Promise.all(
    tables.map(
      async (table) => (await pool.query(`select t.* from ${table} t order by t::text`)).rows as unknown,
    ),
  );
}
