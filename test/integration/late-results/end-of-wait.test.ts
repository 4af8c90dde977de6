import { afterAll, expect, it } from 'vitest';
import { endWithoutResults } from '../../../src/late-results/end-of-wait.ts';
import { syncRunResults } from '../../../src/late-results/sync-late-results.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  readCallCredits,
  deliverTo,
  drainCall,
  onlyPhones,
  phonesBody,
  storeDeliveryFor,
  type CallCredits,
  type LateExtras,
  type PhonesCall,
  emailsAndPhones,
  waterfallBody,
  pollsBy,
} from '../../helpers/warehouse/late-calls.ts';
import { httpAnswer, startScriptedServer } from '../../helpers/servers/scripted-server.ts';
import { testClient } from '../../helpers/servers/test-client.ts';

/** A service that gives every poll the same answer. */
async function startPolledService() {
  let answer: Buffer = Buffer.alloc(0);
  const server = await startScriptedServer((socket) => void socket.end(answer));
  const client = testClient({ baseUrl: server.baseUrl });
  return {
    client,
    answerWith: (status: number, body: string) => {
      answer = httpAnswer(status, body, { 'content-type': 'application/json', connection: 'close' });
    },
    close: async () => {
      await client.close();
      await server.close();
    },
  };
}

const warehouse = await warehouseOfFile({ keepsPlans: true });
const service = await startPolledService();

afterAll(() => service.close());

const settled = (credits: number) => ({ status: 'settled', settled: credits });
const held = { status: 'awaiting', settled: null };
const unknown = { status: 'unknown', settled: null };

type Sent = (call: PhonesCall) => Buffer;
const phonesOf =
  (person: number, more: object = {}): Sent =>
  (call) =>
    phonesBody([call.ids[person]!], 8, more);
const waterfall =
  (more: object): Sent =>
  (call) =>
    Buffer.from(JSON.stringify(waterfallBody(call, 'emails', 2, more)));

/** Moves the deadline of a call into the past and syncs. @param poll response to the poll; undefined: no poll is due */
async function booksAfterDeadline(
  call: PhonesCall,
  poll: readonly [number, string] | undefined,
): Promise<CallCredits> {
  service.answerWith(...(poll ?? [500, '']));
  await warehouse.query`
    update attempts set awaited_until = now() - interval '1 second',
      next_poll_at = case when ${poll !== undefined} then now() - interval '1 second' end
    where attempt_id = ${call.attemptId}`;
  await syncRunResults(pollsBy(warehouse, service.client), call.runId, AbortSignal.timeout(120_000));
  return readCallCredits(warehouse, call);
}

const resultOf = (body: Buffer, webhookStatus: string): [number, string] => [
  200,
  `{"webhook_status":"${webhookStatus}","webhook_result":${body.toString()}}`,
];

it.each<[string, readonly Sent[], object]>([
  [
    'settled if a delivery counts all other people as missing',
    [phonesOf(0, { missing_records: 2 })],
    settled(11),
  ],
  ['unknown if a delivery counts too few people as missing', [phonesOf(0, { missing_records: 1 })], unknown],
  [
    'unknown if two deliveries contradict each other about missing people',
    [phonesOf(0, { missing_records: 2 }), phonesOf(1, { missing_records: 2 })],
    unknown,
  ],
])(
  'at its deadline, a call that cannot be polled is settled only if all people are counted: it is %s',
  async (_, sent, expected) => {
    const call = await answeredCall(warehouse);
    for (const each of sent) await deliverTo(warehouse, call, each(call));
    expect(await booksAfterDeadline(call, undefined)).toMatchObject(expected);
  },
);

it.each<[string, number, string, object]>([
  ['is settled if the poll knows no such request', 404, '{"error_code":"request_id_unknown"}', settled(11)],
  ['stays awaiting if the poll fails', 500, '{}', held],
])(
  'at its deadline, a call with a delivery that counts all people is polled once more, and %s',
  async (_, status, body, expected) => {
    const call = await answeredCall(warehouse);
    await deliverTo(warehouse, call, phonesOf(0, { missing_records: 2 })(call));
    expect(await booksAfterDeadline(call, [status, body])).toMatchObject(expected);
  },
);

const target = { target_fields: ['emails', 'phone_numbers'] };
it.each<[string, Sent, string, object, LateExtras?]>([
  [
    'is settled if the request has ended, although the body has no count of missing people',
    phonesOf(0),
    'success',
    settled(11),
  ],
  ['stays awaiting if the request is in progress', phonesOf(0), 'in_progress', held],
  [
    'stays awaiting if the body counts too few people as missing',
    phonesOf(0, { missing_records: 1 }),
    'success',
    held,
  ],
  [
    'is settled by a waterfall result that leaves out people whom no vendor knows',
    (call) =>
      waterfall({
        ...target,
        people: [{ id: call.ids[0], emails: [{ email: 'x@orbit.example' }], phone_numbers: [] }],
      })(call),
    'success',
    settled(5),
    emailsAndPhones,
  ],
  [
    'stays awaiting if the result has only e-mails and phones are expected',
    waterfall(target),
    'success',
    held,
    emailsAndPhones,
  ],
])(
  'at its deadline, a call is settled only if the poll accounts for all people: it %s',
  async (_, body, status, expected, extras = onlyPhones) => {
    const call = await answeredCall(warehouse, extras);
    expect(await booksAfterDeadline(call, resultOf(body(call), status))).toMatchObject(expected);
  },
);

it('a poll result that lacks a person of an earlier delivery does not settle the call', async () => {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, phonesOf(1)(call));
  const poll = resultOf(phonesOf(0, { missing_records: 2 })(call), 'success');
  expect(await booksAfterDeadline(call, poll)).toMatchObject(held);
});

it('a poll that counts all people as missing ends the wait for phones, but not for the waterfall', async () => {
  const call = await answeredCall(warehouse, { reveal: ['phone'], waterfall: ['email'] });
  const polled = resultOf(phonesBody([], 0, { missing_records: 3 }), 'success');
  expect(await booksAfterDeadline(call, polled)).toMatchObject(held);
  const rows = await warehouse.query`
    select kind, status, count(*)::int as people
    from expected_results where attempt_id = ${call.attemptId} group by 1, 2 order by 1`;
  expect(rows).toEqual([
    { kind: 'phone', status: 'missing', people: 3 },
    { kind: 'waterfall_email', status: 'expected', people: 3 },
  ]);
});

it.each([
  ['settles a call without a delivery at the price of its answer', false, settled(3)],
  ['leaves a call awaiting if a delivery for it is in the inbox', true, held],
])('endWithoutResults(), after a poll without a result, %s', async (_, isDelivered, expected) => {
  const call = await answeredCall(warehouse);
  if (isDelivered) await storeDeliveryFor(warehouse, call, phonesBody(call.ids, 24));
  await endWithoutResults(warehouse, call.attemptId, 'nothing came: failed');
  expect(await readCallCredits(warehouse, call)).toMatchObject(expected);
  await drainCall(warehouse, call);
  expect(await readCallCredits(warehouse, call)).toMatchObject(settled(isDelivered ? 27 : 3));
});

it('endWithoutResults() makes a waterfall call unknown, because a search without a result can cost', async () => {
  const call = await answeredCall(warehouse, emailsAndPhones);
  await endWithoutResults(warehouse, call.attemptId, 'nothing came: failed');
  expect(await readCallCredits(warehouse, call)).toMatchObject(unknown);
  for (const field of ['emails', 'phone_numbers'] as const)
    await deliverTo(warehouse, call, waterfallBody(call, field, 7));
  expect(await readCallCredits(warehouse, call)).toMatchObject(settled(17));
});
