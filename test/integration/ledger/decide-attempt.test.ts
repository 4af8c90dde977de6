import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Warehouse } from '../../../src/db/database.ts';
import { decideAttempt } from '../../../src/ledger/decide-attempt.ts';
import { markUnknown } from '../../../src/ledger/close-attempt.ts';
import { openTestWarehouse } from '../../helpers/database.ts';
import { callWithPhones } from '../../helpers/late-calls.ts';

let warehouse: Warehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.close());

it('a decision does not deadlock with an answer for the same person, because budgets are locked last', async () => {
  const { runId, attemptId } = await callWithPhones(warehouse);
  await markUnknown(warehouse, attemptId, 'by a test');
  await warehouse.pool.query(
    `insert into claims (service, identity_key, run_id, row_number) select 'test', keys[1], run_id, row_number from ` +
      'run_rows where run_id = $1',
    [runId],
  );
  const recording = await warehouse.pool.connect();
  await recording.query('begin');
  await recording.query('delete from claims where run_id = $1', [runId]);
  const deciding = decideAttempt(warehouse, attemptId, '0');
  // Until it waits for the claims.
  await expect
    .poll(async () => {
      const waiting = await warehouse.pool.query(`select 1 from pg_locks where not granted`);
      return waiting.rows.length;
    })
    .toBeGreaterThan(0);
  await recording.query('update budgets set settled = settled + 1 where budget_id = $1', [`run:${runId}`]);
  await recording.query('commit');
  recording.release();
  await deciding;
});
