import { expect, it } from 'vitest';
import { recordLateLookups } from '../../../src/people/lookup-history.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 3 });

it('recordLateLookups() locks lookups in the order in which other transactions write them', async () => {
  const keys = Array.from({ length: 40 }, (_, index) => `email:a${index}@orbit.example`);
  const { runId } = await stagedRun(warehouse, [{ keys, email: 'a0@orbit.example', contactId: 'a' }]);
  await warehouse.query`
    insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
    select key_hash(key, 'test'), 'phone', true, clock_timestamp(), number_lookup_run(${runId}, 'test')
    from unnest(${keys}::text[]) as key`;
  const other = await warehouse.pool.connect();
  await other.query('begin; select from lookup_history order by key_hash limit 1 for update');
  const learned = keys.map((identityKey) => ({ personKey: keys[0]!, identityKey }));
  const recorded = warehouse.database
    .transaction()
    .execute((transaction) =>
      recordLateLookups(
        transaction,
        { runId, attemptId: 'a', options: { service: 'test' } },
        { results: [], learned, ofAll: [] },
      ),
    );
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await warehouse.pool.query(waiting)).rowCount).toBe(1);
  const { rows } = await other.query('select from lookup_history for update skip locked');
  await other.query('rollback');
  other.release();
  expect(rows).toHaveLength(keys.length);
  await recorded;
});
