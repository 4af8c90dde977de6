import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { addKnownAddresses } from '../../../src/keys/key-lookups.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

it('addKnownAddresses() reads the keys of a run once after retention has removed the rows of other runs', async () => {
  const addRows = (runId: string, rows: number) =>
    warehouse.query`
      insert into run_rows (run_id, row_number, contact_id, raw, keys)
      select ${runId}, n, 'c' || n, repeat('x', 200), array['email:p' || n || '@large.example']
      from generate_series(1, ${rows}::integer) n`;
  await addRows('old', 3_000);
  await addRows('kept', 1);
  await warehouse.query`delete from run_rows where run_id = 'old'`;
  // The pages stay, because the last one is used, and PostgreSQL expects them to be empty.
  await warehouse.query`vacuum run_rows`;
  await addRows('new', 2_000);
  const read = await warehouse.database.transaction().execute(async (transaction) => {
    await sql`
      create temporary table plan_keys on commit drop as
      select identity_key, row_number from run_rows, unnest(keys) as identity_key where run_id = 'new'
    `.execute(transaction);
    await addKnownAddresses(transaction, { runId: 'new', service: 'test' }, sql`plan_keys`);
    const { rows } = await sql<{ read: number }>`
      select seq_tup_read::integer as read from pg_stat_xact_all_tables where relid = 'plan_keys'::regclass
    `.execute(transaction);
    return rows[0]!.read;
  });
  expect(read).toBe(2_000);
});
