import { beforeEach, expect, it } from 'vitest';
import { decideAttempt } from '../../../src/ledger/decide-attempt.ts';
import { markUnknown } from '../../../src/ledger/close-attempt.ts';
import { measurePrune, prune } from '../../../src/privacy/prune.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { callWithPhones, type PhonesCall } from '../../helpers/warehouse/late-calls.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const { signal } = new AbortController();

const warehouse = await warehouseOfFile();

beforeEach(() => warehouse.pool.query('truncate runs, run_rows, attempts, attempt_people cascade'));

/** An ended run with four rows, and a call of unknown cost for the first three of them. */
async function runWithUnknownCall(): Promise<PhonesCall> {
  const call = await callWithPhones(warehouse);
  await warehouse.query`
    insert into run_rows (run_id, row_number, contact_id, outcome, raw, keys, email)
    values (${call.runId}, 4, 'd', 'not_found', '["d"]', '{email:d@orbit.example}', 'd@orbit.example')`;
  await warehouse.query`update runs set rows_staged = 4 where run_id = ${call.runId}`;
  await markUnknown(warehouse, call.attemptId, 'no answer in time');
  await endRun(warehouse, call.runId, 'finished', undefined);
  return call;
}

/** The contacts of the rows of a run, with a star if the row has cells. */
async function rowsOf(runId: string): Promise<string[]> {
  const rows = await warehouse.query<{ row: string }>`
    select contact_id || case when keys <> '{}' then '*' else '' end as row
    from run_rows where run_id = ${runId} order by row_number`;
  return rows.map(({ row }) => row);
}

it('prune() clears the rows of a run except those of a call of unknown cost, until a decision', async () => {
  const call = await runWithUnknownCall();
  const asked = call.people.map(({ contactId }) => contactId);
  const staging = { staging: 0 };
  const held = { run_id: call.runId, unknown_calls: 1 };
  const measured = await measurePrune(warehouse, staging);
  expect(measured).toMatchObject({ staging: { runs: 1, rows: 1 }, kept: { runs: 1 }, held: [held] });
  expect(await prune(warehouse, staging, signal)).toEqual(measured);
  expect(await rowsOf(call.runId)).toEqual([...asked.map((id) => `${id}*`), 'd']);
  expect(await prune(warehouse, staging, signal)).toMatchObject({ staging: { rows: 0 }, held: [held] });
  await decideAttempt(warehouse, call.attemptId, { credits: '0' });
  const decided = await measurePrune(warehouse, staging);
  expect(decided).toMatchObject({ staging: { runs: 1, rows: 3 }, kept: { runs: 0 }, held: [] });
  expect(await prune(warehouse, staging, signal)).toEqual(decided);
  expect(await rowsOf(call.runId)).toEqual([...asked, 'd']);
});

it('prune() prunes the rows that were left behind the first 5,000 rows of a run', async () => {
  const call = await runWithUnknownCall();
  const contactId = call.people[0]!.contactId;
  const later = await stagedRun(warehouse, [
    { keys: [`email:${contactId}`], contactId, outcome: 'not_found' },
  ]);
  await endRun(warehouse, later.runId, 'finished', undefined);
  for (const table of ['run_rows', 'attempt_people'])
    await warehouse.pool.query(`update ${table} set row_number = row_number + 5000`);
  await warehouse.query`update runs set rows_staged = rows_staged + 5000, source = 'crm'`;
  const retention = { staging: 0, rows: 0 };
  await prune(warehouse, retention, signal);
  expect([(await rowsOf(call.runId)).length, await rowsOf(later.runId)]).toEqual([4, [contactId]]);
  await decideAttempt(warehouse, call.attemptId, { credits: '0' });
  await prune(warehouse, { staging: 0 }, signal);
  expect((await rowsOf(call.runId)).filter((row) => row.endsWith('*'))).toEqual([]);
  await prune(warehouse, retention, signal);
  expect([await rowsOf(call.runId), await rowsOf(later.runId)]).toEqual([[], []]);
});
