import { expect, it } from 'vitest';
import { openPage } from '../../../src/runs/pages.ts';
import { estimateKeysAmount } from '../../../src/runs/planning/drop-rows.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { testLookupRequest, outcomesOf, stagedRun, noSignal } from '../../helpers/warehouse/rows.ts';
import { rowsScanned } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

const { pool } = warehouse;
await pool.query(
  `insert into lookup_history (asked_at, lookup_run, key_hash, field_group, found)
   select now(), number_lookup_run('earlier', 'test'), key_hash('email:p' || n || '@large.example', 'test'),
     'profile', true
   from generate_series(1, 6000) n`,
);
await pool.query(
  `insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number)
   select 'generic', 'c' || n, 'test', 'person:p' || n, 'email', true, 'earlier', n
   from generate_series(1, 24000) n`,
);
await pool.query(
  `insert into observations (service, person_key, person_id, kind, asked_at, run_id, attempt_id, identity_keys, facts)
   select 'test', 'person:p' || n, 'p' || n, 'answer', now(), 'earlier', 'a1',
     array['person:p' || n, 'email:p' || n || '@large.example'], '{}'
   from generate_series(1, 24000) n`,
);
// With fewer rows of earlier runs, PostgreSQL looks contacts up by the index in every form of the statement.
await pool.query(
  `insert into run_rows (run_id, row_number, contact_id, raw, keys)
   select 'earlier-' || n / 300, n % 300 + 1, 'old' || n, '[]', '{}' from generate_series(1, 40000) n`,
);
await pool.query(
  `insert into contact_records (source, contact_id, run_id, row_number, keys)
   select 'generic', 'old' || n, 'earlier-' || n / 300, n % 300 + 1, array['email:old' || n || '@large.example']
   from generate_series(1, 40000) n`,
);
await pool.query('analyze');

/** A run of people 5,901 to 6,200, of whom the first hundred are known. */
function largeRun() {
  const rows = Array.from({ length: 300 }, (_, index) => {
    const email = `p${5_901 + index}@large.example`;
    return { keys: [`email:${email}`], email, contactId: `c${5_901 + index}` };
  });
  return stagedRun(warehouse, rows);
}

it('planRows() and openPage() use the index of the lookup history when it has 6,000 lookups', async () => {
  const { runId } = await largeRun();
  const before = await rowsScanned(warehouse, 'lookup_history');
  await planRows(warehouse, runId, testLookupRequest);
  await openPage(warehouse, runId, 1, testLookupRequest);
  expect((await rowsScanned(warehouse, 'lookup_history')) - before).toBe(0);
  const outcomes = await outcomesOf(warehouse, runId);
  expect(outcomes.filter((outcome) => outcome === 'fresh')).toHaveLength(100);
});

it('reconcileContacts() uses the index for the contacts of 300 rows out of 24,000', async () => {
  const { runId } = await largeRun();
  const before = await rowsScanned(warehouse, 'contact_records');
  await reconcileContacts(warehouse, runId, noSignal);
  expect((await rowsScanned(warehouse, 'contact_records')) - before).toBe(0);
});

it.each([
  [300, 'few'],
  [3_000, 'many'],
] as const)('estimateKeysAmount() rates %i keys against 6,000 lookups as "%s"', async (keys, amount) => {
  await warehouse.query`create temporary table some_keys as select generate_series(1, ${keys}::integer)`;
  expect(await estimateKeysAmount(warehouse.database, 'some_keys')).toBe('few');
  await warehouse.query`analyze some_keys`;
  expect(await estimateKeysAmount(warehouse.database, 'some_keys')).toBe(amount);
  await warehouse.query`drop table some_keys`;
});
