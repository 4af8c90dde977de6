import { beforeEach, expect, it, vi } from 'vitest';
import type { BatchResult } from '../../../src/contract/activities.ts';
import type { RunPriority } from '../../../src/contract/temporal-names.ts';
import type { RateLimit } from '../../../src/domain/rates/rate-limit.ts';
import { enrichBatch, openBatches } from '../../../src/calls/batches/enrich-batch.ts';
import {
  type Admission,
  registerWaitingBatches,
  deleteExpiredBatches,
  deregisterWaitingBatches,
} from '../../../src/ledger/admit.ts';
import type { CallQueue } from '../../../src/ledger/call-queue.ts';
import { openBudgetsOfRun } from '../../../src/ledger/credit-ledger.ts';
import { type SlotWait } from '../../../src/ledger/rate-windows.ts';
import type { BulkAnswer } from '../../../src/service/client.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { testLookupRequest, runningRun, noSignal, limitBudget } from '../../helpers/warehouse/rows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { admit } from '../../helpers/warehouse/admit.ts';
import { batchDependencies, queueOf } from '../../helpers/warehouse/batch-dependencies.ts';

const service = 'test';
const fourAMinute: RateLimit[] = [{ calls: 4, seconds: 60 }];

const warehouse = await warehouseOfFile({ connections: 4 });
const limits = { service, rateLimits: fourAMinute, budgets: {} };
let night: string;
let backfill: string;

beforeEach(async () => {
  await warehouse.query`
    delete from rate_calls; delete from rate_scopes; delete from rate_reports; delete from waiting_batches`;
  night = await runOf('nightly');
  backfill = await runOf('backfill');
});

async function runOf(priority: RunPriority): Promise<string> {
  const runId = await runningRun(warehouse);
  await warehouse.query`
    update runs set options = jsonb_set(options, '{priority}', to_jsonb(${priority}::text)) where run_id = ${runId}`;
  return runId;
}

/** Plans the first people of the nightly run, ten in each batch. */
const planPeople = (people: number) => warehouse.query`
  insert into run_people (run_id, position, row_number)
  select ${night}, n - 1, n from generate_series(1, ${people}::integer) n`;

/** Registers batches of the nightly run as waiting. */
async function waiting(...batches: number[]): Promise<void> {
  await registerWaitingBatches(warehouse.database, { runId: night, batches });
}

async function ask(
  runId: string,
  priority: RunPriority,
  batch = 1,
  rateLimits = fourAMinute,
): Promise<Admission> {
  const rowNumbers = Array.from({ length: 10 }, (_, index) => (batch - 1) * 10 + index + 1);
  return admit(warehouse.database, { runId, batch, priority, rowNumbers }, { service, rateLimits });
}

/** Counts the calls of the backfill that are admitted before a call has to wait. */
async function slotsForBackfill(rateLimits = fourAMinute): Promise<number> {
  for (let calls = 0; ; calls += 1)
    if ((await ask(backfill, 'backfill', calls + 1, rateLimits)).kind !== 'admitted') return calls;
}

it('a backfill leaves rate slots for all batches of an open nightly page', async () => {
  await planPeople(30);
  await openPage(warehouse, night, 1, testLookupRequest);
  expect(await slotsForBackfill()).toBe(1);
  const nightly = await Promise.all([1, 2, 3].map((batch) => ask(night, 'nightly', batch)));
  expect(nightly.map(({ kind }) => kind)).toEqual(Array(3).fill('admitted'));
});

it('a backfill call waits a minute, with a reason, while nightly batches need all rate slots', async () => {
  await waiting(1, 2, 3, 4);
  expect(await ask(backfill, 'backfill', 5)).toMatchObject({
    kind: 'wait',
    milliseconds: 60_000,
    reason: 'the calls that are left in a rate window are reserved for runs of higher priority',
  });
});

/** The rate window stays full for another hour, so a batch that waited too long is handed back. */
const fullForAnHour = { milliseconds: 3_600_000, reason: 'full' };

async function enrich(
  runId: string,
  batch: number,
  free: { slots: number; wait: SlotWait | undefined } = { slots: 0, wait: fullForAnHour },
  answer?: () => Promise<Partial<BulkAnswer>>,
  queue = queueOf(1, free),
): Promise<BatchResult> {
  const dependencies = { ...batchDependencies(warehouse, limits, answer), queue };
  const [open] = await openBatches(dependencies, runId, [batch]);
  const result = await enrichBatch(dependencies, open!, noSignal);
  await queue.close();
  return result;
}

const isWaitedFor = () => warehouse.query`
  select batch, round(extract(epoch from waits_until - clock_timestamp()) / 60)::int as minutes
  from waiting_batches`;

it('a nightly batch handed back for an hour stays registered as waiting for another 30 minutes', async () => {
  await planPeople(10);
  expect(await enrich(night, 1)).toMatchObject({ kind: 'wait', ...fullForAnHour });
  expect(await isWaitedFor()).toEqual([{ batch: 1, minutes: 60 + 30 }]);
});

it('batches of a run without credits are deregistered, and no rate slot is reserved for them', async () => {
  await planPeople(30);
  await openBudgetsOfRun(warehouse.database, night);
  await limitBudget(warehouse, night, 0);
  await waiting(2, 3);
  const free = { slots: 4, wait: undefined };
  expect(await enrich(night, 1, free)).toMatchObject({ kind: 'over_budget' });
  expect(await isWaitedFor()).toEqual([]);
  expect(await slotsForBackfill()).toBe(4);
  await limitBudget(warehouse, night, null);
});

it('a batch that waited does not request people whom another run looked up in the meantime', async () => {
  await planPeople(10);
  await warehouse.query`
    update run_rows set keys = array['email:' || row_number || '@' || run_id] where run_id = ${night}`;
  const queue = {
    run: async (_priority: RunPriority, job: () => Promise<unknown>) => {
      await warehouse.query`
        insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
        select key_hash(key, ${service}), 'profile', true, clock_timestamp(),
          number_lookup_run(${backfill}, ${service})
        from run_rows, unnest(keys) as key where run_id = ${night}`;
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      return { kind: 'ran', result: await job() };
    },
    close: () => Promise.resolve(),
  } as unknown as CallQueue;
  const answer = vi.fn<() => Promise<Partial<BulkAnswer>>>();
  expect(await enrich(night, 1, undefined, answer, queue)).toEqual({ kind: 'done' });
  expect(answer).not.toHaveBeenCalled();
  expect(await isWaitedFor()).toEqual([]);
});

it('no rate slot is reserved for a waiting batch that was admitted or deregistered', async () => {
  await waiting(1, 2);
  await ask(night, 'nightly', 1);
  await deregisterWaitingBatches(warehouse.database, night, { first: 2, last: 2 });
  expect(await slotsForBackfill()).toBe(3);
});

it('no rate slot is reserved for the waiting batches of a paused run', async () => {
  await waiting(1, 2);
  await setRunStatus(warehouse, night, 'paused', undefined);
  expect(await slotsForBackfill()).toBe(4);
});

it('no rate slot is reserved for a waiting batch with an expired registration', async () => {
  await waiting(1, 2);
  await warehouse.query`update waiting_batches set waits_until = waits_until - interval '30 minutes'`;
  expect(await slotsForBackfill()).toBe(4);
  await deleteExpiredBatches(warehouse.database);
  expect(await warehouse.query`select 1 from waiting_batches`).toEqual([]);
});
