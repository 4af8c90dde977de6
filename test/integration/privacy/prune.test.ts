import { expect, it } from 'vitest';
import { decideAttempts } from '../../../src/ledger/decide-attempt.ts';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { reopenDelivery } from '../../../src/late-results/deliveries.ts';
import { measurePrune, prune } from '../../../src/privacy/prune.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  callWithPhones,
  deliverTo,
  phonesBody,
  type PhonesCall,
  deliveredCall,
  deliveryStatuses,
  endedWithPhones,
  readCallCredits,
} from '../../helpers/warehouse/late-calls.ts';
import { noSignal } from '../../helpers/warehouse/rows.ts';

const month = 30 * 86_400;
const everything = { answers: month, deliveries: month, staging: month };

const warehouse = await warehouseOfFile();

/** Moves the times of all runs, answers and deliveries into the past. */
async function age(seconds: number): Promise<void> {
  const ago = `make_interval(secs => ${seconds})`;
  for (const [table, columns] of [
    ['runs', ['created_at', 'finished_at']],
    ['raw_answers', ['received_at']],
    ['webhook_deliveries', ['received_at']],
  ] as const) {
    const set = columns.map((column) => `${column} = ${column} - ${ago}`).join(', ');
    await warehouse.pool.query(`update ${table} set ${set}`);
  }
}

/** Counts the answers, payloads and rows of a call that still have personal data. */
async function keptOf({ runId, attemptId }: PhonesCall): Promise<Record<string, number>> {
  const rows = await warehouse.query<Record<string, number>>`
    select (select count(*)::int from raw_answers where attempt_id = ${attemptId}) as answers,
    (select count(body)::int from webhook_deliveries where attempt_id = ${attemptId}) as deliveries,
    (select count(*)::int from run_rows
     where run_id = ${runId} and (email is not null or last_name is not null or keys <> '{}')) as rows`;
  return rows[0]!;
}

const whole = { answers: 1, deliveries: 1, rows: 3 };
const nothing = { answers: 0, deliveries: 0, rows: 0 };

it('prune() removes answers, payloads and cells older than their retention, as measurePrune() counts', async () => {
  const call = await endedWithPhones(warehouse);
  await age(month + 60);
  const measured = await measurePrune(warehouse, everything);
  expect(measured).toMatchObject({
    answers: { count: 1 },
    deliveries: { count: 1 },
    staging: { runs: 1, rows: 3 },
    held: [],
  });
  expect(await keptOf(call)).toEqual(whole);
  expect(await prune(warehouse, everything, noSignal)).toEqual(measured);
  expect(await keptOf(call)).toEqual(nothing);
  expect(await prune(warehouse, everything, noSignal)).toMatchObject({
    answers: { count: 0 },
    deliveries: { count: 0 },
    staging: { runs: 0, rows: 0 },
  });
});

const always = { answers: 0, deliveries: 0, staging: 0 };

it('a repeated delivery is recognised after prune(), and a new delivery is applied and billed', async () => {
  const call = await endedWithPhones(warehouse);
  await prune(warehouse, always, noSignal);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  await deliverTo(
    warehouse,
    call,
    Buffer.from(phonesBody(call.ids, 26).toString().replaceAll('+1415', '+1416')),
  );
  const rows = await warehouse.query`
    select credits_settled::float8 as settled,
      (select count(*)::int from person_phones where run_id = ${call.runId} and number like '+1416%') as phones
    from attempts where attempt_id = ${call.attemptId}`;
  expect(rows).toEqual([{ settled: 29, phones: 3 }]);
  expect(await deliveryStatuses(warehouse, call)).toEqual(['applied', 'duplicate', 'applied']);
});

it('prune() keeps answers, payloads and cells of a run that has not ended', async () => {
  const call = await deliveredCall(warehouse);
  await prune(warehouse, always, noSignal);
  expect(await keptOf(call)).toEqual(whole);
});

it('prune() keeps data of an ended run while late results are awaited', async () => {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, phonesBody(call.ids.slice(0, 1), 8));
  await endRun(warehouse, call.runId, 'finished', undefined);
  const { held } = await prune(warehouse, always, noSignal);
  expect(held).toContainEqual(expect.objectContaining({ run_id: call.runId, awaiting_calls: 1 }));
  expect(await keptOf(call)).toEqual(whole);
  await deliverTo(warehouse, call, phonesBody(call.ids.slice(1), 16));
  expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'settled' });
  await prune(warehouse, always, noSignal);
  expect(await keptOf(call)).toMatchObject({ answers: 0, deliveries: 0 });
});

it('prune() keeps the answer of an unknown call until the operator decides, and clears its rows', async () => {
  const call = await callWithPhones(warehouse);
  await warehouse.query`insert into raw_answers (attempt_id, body_gzip) values (${call.attemptId}, ${'body'})`;
  await markAttemptUnknown(warehouse, call.attemptId, 'no answer in time');
  await endRun(warehouse, call.runId, 'finished', undefined);
  expect((await prune(warehouse, always, noSignal)).held).toContainEqual({
    run_id: call.runId,
    has_ended: true,
    awaiting_calls: 0,
    unread_deliveries: 0,
    unknown_calls: 1,
  });
  expect(await keptOf(call)).toMatchObject({ rows: 0, answers: 1 });
  await decideAttempts(warehouse, [{ attemptId: call.attemptId, credits: '24' }]);
  await prune(warehouse, always, noSignal);
  expect(await keptOf(call)).toMatchObject({ answers: 0 });
});

it('prune() keeps quarantined deliveries so that they can be replayed', async () => {
  const call = await endedWithPhones(warehouse);
  await deliverTo(warehouse, call, Buffer.from('{"people": 7}'));
  await deliverTo(warehouse, call, phonesBody(['somebody-else'], 8));
  await prune(warehouse, always, noSignal);
  const rows = await warehouse.query`
    select status, body is not null as kept
    from webhook_deliveries where attempt_id = ${call.attemptId} order by received_at`;
  expect(rows).toEqual([
    { status: 'applied', kept: false },
    { status: 'quarantined', kept: true },
    { status: 'quarantined', kept: true },
  ]);
});

it('prune() removes the payload of old quarantined deliveries, and keeps status and credits', async () => {
  await prune(warehouse, { quarantine: 0 }, noSignal);
  const call = await endedWithPhones(warehouse);
  await deliverTo(warehouse, call, Buffer.from('{"people": 7}'));
  await deliverTo(warehouse, call, phonesBody(['somebody-else'], 8));
  const rows = async () =>
    await warehouse.query<{ delivery_id: string }>`
        select delivery_id, status, body is null as pruned, credits::float8 as credits from webhook_deliveries
        where attempt_id = ${call.attemptId} and status <> 'applied' order by received_at`;
  const retention = { quarantine: 2 * month };
  await age(month + 60);
  expect(await prune(warehouse, retention, noSignal)).toMatchObject({ quarantine: { count: 0 } });
  await age(month);
  expect(await measurePrune(warehouse, retention)).toMatchObject({ quarantine: { count: 2 } });
  expect(await prune(warehouse, retention, noSignal)).toMatchObject({ quarantine: { count: 2 } });
  expect(await rows()).toMatchObject([
    { status: 'quarantined', pruned: true, credits: null },
    { status: 'quarantined', pruned: true, credits: 8 },
  ]);
  await expect(reopenDelivery(warehouse, (await rows())[0]!.delivery_id)).rejects.toMatchObject({
    type: 'delivery.pruned',
  });
});

it('prune() clears the rows of a plan that was killed two days ago', async () => {
  const { run } = await findOrBeginRun(warehouse, {
    filePath: '/nowhere/plan.csv',
    fileName: 'plan.csv',
    fileSha256: 'plan',
    options: (await getRun(warehouse, 'latest')).options,
    expectedPlanHash: null,
    planOnly: true,
  });
  await warehouse.query`
    insert into run_rows (run_id, row_number, contact_id, raw, keys, email)
    values (${run.runId}, 1, 'c', '["x"]', '{k}', 'x')`;
  await warehouse.query`update runs set rows_staged = 1, source = 'generic' where run_id = ${run.runId}`;
  const emails = async () => await warehouse.query`select email from run_rows where run_id = ${run.runId}`;
  await prune(warehouse, always, noSignal);
  expect(await emails()).toEqual([{ email: 'x' }]);
  await age(2 * 86_400);
  await prune(warehouse, always, noSignal);
  expect(await emails()).toEqual([{ email: null }]);
});
