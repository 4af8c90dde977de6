import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { closeWithoutCost, markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { openTestWarehouse, warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  readCallCredits,
  callWithPhones,
  deliverTo,
  deliveryStatuses,
  emailsAndPhones,
  phonesBody,
  recordPhonesAnswer,
  waterfallBody,
  type CallCredits,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import { installSimulatedClock, setSimulatedClock } from '../../helpers/database/simulated-clock.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

/** The people a, b and c of a call. */
function people(call: PhonesCall, who: string): string[] {
  return who.split('').map((letter) => call.ids['abc'.indexOf(letter)]!);
}

type Sent = (call: PhonesCall) => object | Buffer;
const phones =
  (who: string, credits: number | string, more: object = {}): Sent =>
  (call) =>
    phonesBody(people(call, who), credits, more);
const settled = (credits: number): Partial<CallCredits> => ({ status: 'settled', settled: credits });
const unknown = { status: 'unknown', settled: null };

it.each<[string, readonly Sent[], Partial<CallCredits>]>([
  ['unknown after deliveries of overlapping people', [phones('ab', 16), phones('bc', 16)], unknown],
  [
    'unknown after deliveries that each repeat the total price',
    [phones('a', 24), phones('b', 24), phones('c', 24)],
    unknown,
  ],
  [
    'unknown after a delivery price that is too high together with the price of the answer',
    [phones('abc', 27)],
    unknown,
  ],
  [
    'settled after a gzip delivery without its content-encoding header',
    [(call) => gzipSync(phonesBody(call.ids, 24))],
    settled(27),
  ],
])(
  'a call is settled only if the people and prices of its deliveries add up: %s',
  async (_, sent, expected) => {
    const call = await answeredCall(warehouse);
    for (const each of sent) await deliverTo(warehouse, call, each(call));
    expect(await readCallCredits(warehouse, call)).toMatchObject(expected);
  },
);

it.each([0, null])(
  'a waterfall call that finds no person is settled at 0 credits by an answer with the price %s',
  async (price) => {
    const call = await callWithPhones(warehouse, emailsAndPhones);
    await recordPhonesAnswer(warehouse, call, [0, 0, 0], price);
    expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'settled', settled: 0 });
  },
);

it.each([[['vendor-1', 'vendor-2']], [[]]])(
  'a delivery settles the price of a waterfall that found no person if the request id fits (people: %j)',
  async (ids) => {
    const call = await callWithPhones(warehouse, emailsAndPhones);
    await recordPhonesAnswer(warehouse, call, [0, 0, 0], null);
    await deliverTo(warehouse, call, waterfallBody(call, 'emails', 9, { request_id: '5' }, ids));
    await deliverTo(warehouse, call, waterfallBody(call, 'emails', 9, {}, ids));
    await deliverTo(warehouse, call, waterfallBody(call, 'emails', 9, { status: 'repeated' }, ids));
    expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'settled', settled: 9 });
    expect(await deliveryStatuses(warehouse, call)).toEqual(['quarantined', 'applied', 'applied']);
  },
);

it.each<[string, Sent]>([
  ['HTML instead of JSON', () => Buffer.from('<html>502</html>')],
  ['an empty body', () => Buffer.alloc(0)],
  ['half a body', (call) => phonesBody(call.ids, 24).subarray(0, 60)],
  ['no list of people', () => ({ people: 'none', credits_consumed: 5 })],
  ['unknown people', () => phonesBody(['stranger-1', 'stranger-2'], 24)],
  ['no people and a price', () => ({ people: [], credits_consumed: 9 })],
  ['people without ids', () => ({ people: [{ phone_numbers: [] }, {}], credits_consumed: 16 })],
  ['an impossible price', (call) => phonesBody(call.ids, 1_000_000)],
])('a delivery with %s is quarantined, and a later correct delivery settles the call', async (_, other) => {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, other(call));
  expect(await deliveryStatuses(warehouse, call)).toEqual(['quarantined']);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'settled', settled: 27 });
});

it('a webhook with an impossible price makes its call unknown, and the run continues', async () => {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, phonesBody(call.ids, 1_000_000));
  expect(await readCallCredits(warehouse, call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
  expect(await getRun(warehouse, call.runId)).toMatchObject({ status: 'running', pauseReason: null });
});

it('the token of a webhook determines its call, whatever request id is in the payload', async () => {
  const [own, other] = [await answeredCall(warehouse), await answeredCall(warehouse)];
  await deliverTo(warehouse, own, phonesBody(other.ids, 24, { request_id: other.requestId }));
  for (const call of [own, other])
    expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'awaiting' });
  await deliverTo(warehouse, own, phonesBody(own.ids, 24, { request_id: other.requestId }));
  expect(await readCallCredits(warehouse, own)).toMatchObject({ status: 'settled', settled: 27 });
  expect(await readCallCredits(warehouse, other)).toMatchObject({ status: 'awaiting' });
});

it('a delivery is not stored if its call was admitted 31 days ago', async () => {
  const call = await answeredCall(warehouse);
  await warehouse.query`
    update attempts set admitted_at = now() - interval '31 days' where run_id = ${call.runId}`;
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  expect(await deliveryStatuses(warehouse, call)).toEqual([]);
});

it.each<[string, readonly (0 | 1)[], object]>([
  ['billed but not listed in its answer', [1, 1, 0], { uniqueEnrichedRecords: 3 }],
  [
    'listed beyond the count that its answer states',
    [1, 1, 1],
    { uniqueEnrichedRecords: 1, missingRecords: 2 },
  ],
])(
  'a call awaits the late results of every person who is listed in its answer or billed: people %s',
  async (_, matches, counts) => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call, matches, 3, 'pending', counts);
    await deliverTo(warehouse, call, phonesBody(call.ids.slice(0, 2), 16));
    expect(await readCallCredits(warehouse, call)).toEqual({
      status: 'awaiting',
      settled: null,
      reserved: 27,
    });
  },
);

it('a call also awaits the late results of a person in its answer whom it did not request', async () => {
  const surplus = [{ id: 'surplus', first_name: 'Zed', last_name: 'Foreign' }];
  const call = { ...(await callWithPhones(warehouse)), surplus };
  await recordPhonesAnswer(warehouse, call);
  await deliverTo(warehouse, call, phonesBody(call.ids.slice(0, 2), 16));
  expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'awaiting' });
  await deliverTo(warehouse, call, {
    people: [...call.ids.slice(2), 'surplus'].map((id) => ({ id, phone_numbers: [] })),
  });
  expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'settled', settled: 19 });
});

it('an unknown call with a priced delivery stays reserved when its worker reports the call as refused', async () => {
  const call = await callWithPhones(warehouse);
  await markAttemptUnknown(warehouse, call.attemptId, 'the worker was lost');
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  await closeWithoutCost(warehouse, call.attemptId, { status: 'refused', reason: 'HTTP 429' });
  expect(await readCallCredits(warehouse, call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
});

it('a call that ends after midnight is settled in the day budget of its admission', async () => {
  const calendar = await openTestWarehouse();
  await installSimulatedClock(calendar);
  await calendar.query`insert into worker_budgets (period, credits_limit) values ('day', 27)`;
  const call = await callWithPhones(calendar);
  await expect(callWithPhones(calendar)).rejects.toThrow('over_budget');
  await setSimulatedClock(calendar, 86_400);
  await callWithPhones(calendar);
  await recordPhonesAnswer(calendar, call);
  await deliverTo(calendar, call, phonesBody(call.ids, 24));
  const days = await calendar.query`
    select reserved::float8, settled::float8 from budgets where budget_id like 'day:%' order by budget_id`;
  expect(days).toEqual([
    { reserved: 0, settled: 27 },
    { reserved: 27, settled: 0 },
  ]);
  await calendar.close();
});

it('readRunFacts() counts applied, repeated and quarantined deliveries', async () => {
  const call = await answeredCall(warehouse);
  const body = phonesBody(call.ids, 24);
  await deliverTo(warehouse, call, body);
  await deliverTo(warehouse, call, body);
  await deliverTo(warehouse, call, Buffer.from('no JSON'));
  const { late_results: late } = await readRunFacts(warehouse, call.runId);
  expect(late).toMatchObject({ arrived: 1, duplicate: 1, quarantined: 1 });
});
