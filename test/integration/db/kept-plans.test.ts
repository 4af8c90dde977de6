import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile({ connections: 1, keepsPlans: true });

it('with keepsPlans, a connection prepares a statement once and uses a generic plan for all values', async () => {
  for (const runId of ['one', 'two', 'three'])
    await sql`select file_name from runs where run_id = ${runId}`.execute(warehouse.database);
  const rows = await warehouse.query`
    select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements
    where statement like 'select file_name from runs%'`;
  expect(rows).toEqual([{ generic: 3, custom: 0 }]);
});

it('a prepared statement fails once after a migration changed its columns, and then works again', async () => {
  await warehouse.query`create table enrichment.changing (id integer)`;
  const read = () => sql`select * from changing where id > ${0}`.execute(warehouse.database);
  await read();
  await warehouse.query`alter table enrichment.changing add column added text`;
  await expect(read()).rejects.toMatchObject({ code: '0A000' });
  await expect(read()).resolves.toMatchObject({ rows: [] });
});

it('a connection is replaced after a write fails because the server has become read-only', async () => {
  const write = () => sql`insert into changing (id) values (${1})`.execute(warehouse.database);
  await sql`set default_transaction_read_only = on`.execute(warehouse.database);
  await expect(write()).rejects.toMatchObject({ code: '25006' });
  await expect(write()).resolves.toMatchObject({ numAffectedRows: 1n });
});
