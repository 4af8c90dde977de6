import { expect, it } from 'vitest';
import { applyLateResult } from '../../../src/late-results/apply-late-result.ts';
import { getDelivery, listDeliveries, reopenDelivery } from '../../../src/late-results/deliveries.ts';
import { readLateResult } from '../../../src/service/answers/late-result.ts';
import { finishRun } from '../../../src/runs/finish-run.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  readCallCredits,
  callWithPhones,
  deliverTo,
  deliveryStatuses,
  drainCall,
  phonesBody as body,
  recordPhonesAnswer,
  storeDeliveryFor,
  type CallCredits,
  type PhonesCall as Call,
} from '../../helpers/warehouse/late-calls.ts';
import { untilLockAwaited } from '../../helpers/database/contents.ts';
import { limitBudget } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

const callInFlight = (): Promise<Call> => callWithPhones(warehouse);
const answer = (call: Call, matches?: readonly (0 | 1)[], credits?: number): Promise<void> =>
  recordPhonesAnswer(warehouse, call, matches, credits);
const deliver = (call: Call, content: Buffer): Promise<void> => deliverTo(warehouse, call, content);
const drain = (call: Call): Promise<void> => drainCall(warehouse, call);

async function books(call: Call): Promise<CallCredits> {
  const wrong = await warehouse.query`
    select b.budget_id from budgets b join attempts a on b.budget_id = any(a.budget_ids)
    group by b.budget_id, b.settled, b.reserved
    having b.settled <> coalesce(sum(a.credits_settled), 0)
      or b.reserved <> coalesce(sum(a.credits_reserved) filter (where a.credits_settled is null), 0)`;
  expect(wrong).toEqual([]);
  return readCallCredits(warehouse, call);
}

const deliveries = (call: Call): Promise<string[]> => deliveryStatuses(warehouse, call);

it.each(['running', 'paused'] as const)(
  'a delivery billed above the reservation of its call pauses a %s run until the operator resumes it',
  async (status) => {
    const call = await callInFlight();
    await answer(call);
    const empty = { type: 'budget.empty', reason: 'no credits are left', next: 'wait', budgets: ['day:x'] };
    await setRunStatus(warehouse, call.runId, status, status === 'running' ? undefined : empty);
    await deliver(call, body(call.ids, 40));
    expect(await getRun(warehouse, call.runId)).toMatchObject({
      status: 'paused',
      pauseReason: { type: 'service.overbilled' },
    });
    expect(await finishRun(warehouse, call.runId, 'finished', undefined)).toMatchObject({
      status: 'paused',
      reason_type: 'service.overbilled',
    });
    await setRunStatus(warehouse, call.runId, 'running', undefined, { byOperator: true });
    const finished = await finishRun(warehouse, call.runId, 'finished', undefined);
    expect(finished).toMatchObject({ status: 'finished' });
  },
);

it.each([
  ['exceeds', 20, 'paused'],
  ['fits into', 27, 'running'],
] as const)(
  'a delivery for a skipped phone request is settled, and pauses the run above the budget (%s %s: %s)',
  async (_, limit, status) => {
    const call = await callInFlight();
    await recordPhonesAnswer(warehouse, call, [1, 1, 1], 3, 'skipped');
    await limitBudget(warehouse, call.runId, limit);
    await deliver(call, body(call.ids, 24));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
    expect(await getRun(warehouse, call.runId)).toMatchObject({ status });
  },
);

it('reopenDelivery() refuses a delivery that has already taken effect', async () => {
  const call = await callInFlight();
  await answer(call);
  await deliver(call, body(call.ids, 24));
  const id = (await listDeliveries(warehouse, { runId: call.runId, limit: 1 }))[0]!.delivery_id;
  await expect(reopenDelivery(warehouse, id)).rejects.toMatchObject({
    type: 'delivery.not-replayable',
    message: expect.stringContaining('is applied') as string,
    exitCode: 2,
  });
  expect(await getDelivery(warehouse, id)).toMatchObject({ status: 'applied' });
});

it('each delivery is applied once, although five drains of the inbox run at the same time', async () => {
  const call = await callInFlight();
  await answer(call);
  const stored = Array.from({ length: 20 }, (_, index) =>
    storeDeliveryFor(
      warehouse,
      call,
      Buffer.from(`${' '.repeat(index % 4)}${body(call.ids, 24).toString()}`),
    ),
  );
  await Promise.all(stored);
  await Promise.all(Array.from({ length: 5 }, () => drain(call)));
  expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  expect((await deliveries(call)).filter((status) => status === 'applied')).toHaveLength(4);
});

it.each(['answer', 'delivery'])(
  'a delivery that is applied while the answer of its call is recorded is settled once (%s first)',
  async (first) => {
    const call = await callInFlight();
    await storeDeliveryFor(warehouse, call, body(call.ids, 24));
    const rows = await warehouse.query<{ delivery_id: string }>`
      select delivery_id from webhook_deliveries where attempt_id = ${call.attemptId}`;
    const apply = (): Promise<unknown> =>
      applyLateResult(
        warehouse,
        { deliveryId: rows[0]!.delivery_id, attemptId: call.attemptId },
        readLateResult(body(call.ids, 24)),
      );
    // The answer and the delivery wait for the row of the call. PostgreSQL serves waiting statements in the order
    // in which they began to wait.
    const blocker = await warehouse.pool.connect();
    await blocker.query('begin');
    await blocker.query('select 1 from attempts where attempt_id = $1 for update', [call.attemptId]);
    const works = first === 'answer' ? [() => answer(call), apply] : [apply, () => answer(call)];
    const running: Promise<unknown>[] = [];
    for (const work of works) {
      running.push(work());
      await untilLockAwaited(warehouse, running.length);
    }
    await blocker.query('commit');
    blocker.release();
    await Promise.all(running);
    expect(await deliveries(call)).toEqual([first === 'answer' ? 'applied' : 'received']);
    await drain(call);
    expect(await deliveries(call)).toEqual(['applied']);
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  },
);

it('a delivery with only pending results is applied with the reason "it has no results"', async () => {
  const call = await callInFlight();
  await answer(call);
  const content = { people: [{ id: call.ids[0], status: 'pending' }] };
  await deliver(call, Buffer.from(JSON.stringify(content)));
  expect(await listDeliveries(warehouse, { runId: call.runId, limit: 2 })).toMatchObject([
    { status: 'applied', reason: 'it has no results' },
  ]);
});
