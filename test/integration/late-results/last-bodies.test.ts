import { afterAll, expect, it } from 'vitest';
import { syncRunResults } from '../../../src/late-results/sync-late-results.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { startPolledService } from '../../helpers/servers/polled-service.ts';
import {
  answeredCall,
  booksOf,
  deliverTo,
  phonesBody,
  type Books,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const service = await startPolledService();

afterAll(() => service.close());

const found = { status: 'settled', settled: 11 };
const held = { status: 'awaiting', settled: null, reserved: 27 };
const undecided = { ...held, status: 'unknown' };

/** A call for the phones of three people, of which the service has delivered one. */
async function deliveredCall(more: object): Promise<PhonesCall> {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, firstPhone(call, more));
  return call;
}

function firstPhone(call: PhonesCall, more: object): Buffer {
  return phonesBody([call.ids[0]!], 8, more);
}

/** @param canBePolled the answer of the call had a request id */
async function booksAfterDeadline(
  call: PhonesCall,
  canBePolled: boolean,
  [status, body]: readonly [number, string] = [500, ''],
): Promise<Books> {
  service.answerWith(status, body);
  await warehouse.query`
    update attempts set awaited_until = now() - interval '1 second',
      next_poll_at = case when ${canBePolled} then now() - interval '1 second' end
    where attempt_id = ${call.attemptId}`;
  const dependencies = {
    warehouse,
    service: 'test',
    client: service.client,
    rateLimits: [],
    callTimeoutSeconds: 5,
    pollAfterSeconds: 60,
  };
  await syncRunResults(dependencies, call.runId, AbortSignal.timeout(120_000));
  return booksOf(warehouse, call);
}

const resultOf = (body: Buffer, webhookStatus: string): string =>
  `{"webhook_status":"${webhookStatus}","webhook_result":${body.toString()}}`;

it.each<[string, object, object]>([
  ['counts all others as missing', { missing_records: 2 }, found],
  ['counts fewer', { missing_records: 1 }, undecided],
  ['states no count', {}, undecided],
])('a call that cannot be polled ends at its deadline by a delivery that %s', async (_, more, expected) => {
  expect(await booksAfterDeadline(await deliveredCall(more), false)).toMatchObject(expected);
});

it.each<[string, number, string, object]>([
  ['does not exist', 404, '{}', found],
  ['is forbidden', 403, '{"error_code":"API_INACCESSIBLE"}', found],
  ['knows no such request', 404, '{"error_code":"request_id_unknown"}', found],
  ['fails', 500, '{}', held],
  ['has nothing yet', 404, '{"error_code":"result_pending"}', held],
])(
  'a delivery that counts all others ends a call at its deadline if the poll %s',
  async (_, status, body, expected) => {
    const call = await deliveredCall({ missing_records: 2 });
    expect(await booksAfterDeadline(call, true, [status, body])).toMatchObject(expected);
  },
);

it.each<[string, string, object]>([
  ['has ended', 'success', found],
  ['is in progress', 'in_progress', held],
])(
  'a polled body without a count ends a call at its deadline if the request %s',
  async (_, status, expected) => {
    const call = await deliveredCall({});
    const polled = resultOf(firstPhone(call, {}), status);
    expect(await booksAfterDeadline(call, true, [200, polled])).toMatchObject(expected);
  },
);

it('a call that two parts have left incomplete is unknown at its deadline if it cannot be polled', async () => {
  const call = await deliveredCall({ missing_records: 2 });
  await deliverTo(warehouse, call, phonesBody([call.ids[1]!], 8, { missing_records: 2 }));
  expect(await booksAfterDeadline(call, false)).toEqual(undecided);
});

it.each<[string, boolean, object]>([
  ['a poll', true, {}],
  ['a poll that counts missing people', true, { missing_records: 3 }],
  ['a delivery that counts missing people', false, { missing_records: 3 }],
])('a waterfall of %s does not end the wait for phones at the deadline', async (_, canBePolled, more) => {
  const call = await answeredCall(warehouse, { reveal: ['phone'], waterfall: ['email'] });
  const people = call.ids.map((id) => ({ id, emails: [] }));
  const waterfall = Buffer.from(
    JSON.stringify({ ...more, target_fields: ['emails'], credits_consumed: 6, people }),
  );
  await deliverTo(warehouse, call, waterfall);
  const books = await booksAfterDeadline(call, canBePolled, [200, resultOf(waterfall, 'success')]);
  expect(books.settled).toBeNull();
});

it('a poll that has phones of no person ends the wait for phones and not for the waterfall', async () => {
  const call = await answeredCall(warehouse, { reveal: ['phone'], waterfall: ['email'] });
  const polled = resultOf(phonesBody([], 0, { missing_records: 3 }), 'success');
  await booksAfterDeadline(call, true, [200, polled]);
  const rows = await warehouse.query`select awaits from attempts where attempt_id = ${call.attemptId}`;
  expect(rows).toEqual([{ awaits: ['waterfall_email'] }]);
});
