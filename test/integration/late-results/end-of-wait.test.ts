import { afterAll, expect, it } from 'vitest';
import { endWithoutResults } from '../../../src/late-results/end-of-wait.ts';
import { syncRunResults } from '../../../src/late-results/sync-late-results.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  booksOf,
  deliverTo,
  drainCall,
  onlyPhones,
  phonesBody,
  storeFor,
  type Books,
  type LateExtras,
  type PhonesCall,
  emailsAndPhones,
  waterfallBody,
} from '../../helpers/warehouse/late-calls.ts';
import { createServiceClient } from '../../../src/service/client.ts';
import { httpAnswer, startScriptedServer } from '../../helpers/servers/scripted-server.ts';

/** A service that gives every poll the same answer. */
async function startPolledService() {
  let answer: Buffer = Buffer.alloc(0);
  const server = await startScriptedServer((socket) => void socket.end(answer));
  const client = createServiceClient({
    credential: { kind: 'api-key', value: 'key' },
    callTimeoutSeconds: 5,
    pollPath: '/webhook_result/{request_id}',
    baseUrl: server.baseUrl,
  });
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

/** @param poll what a poll answers; undefined: the answer of the call had no request id */
async function booksAfterDeadline(
  call: PhonesCall,
  poll: readonly [number, string] | undefined,
): Promise<Books> {
  service.answerWith(...(poll ?? [500, '']));
  await warehouse.query`
    update attempts set awaited_until = now() - interval '1 second',
      next_poll_at = case when ${poll !== undefined} then now() - interval '1 second' end
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

const resultOf = (body: Buffer, webhookStatus: string): [number, string] => [
  200,
  `{"webhook_status":"${webhookStatus}","webhook_result":${body.toString()}}`,
];

it.each<[string, readonly Sent[], object]>([
  [
    'settled by a delivery that counts all others as missing',
    [phonesOf(0, { missing_records: 2 })],
    settled(11),
  ],
  ['unknown with a delivery that counts fewer', [phonesOf(0, { missing_records: 1 })], unknown],
  [
    'unknown with two parts',
    [phonesOf(0, { missing_records: 2 }), phonesOf(1, { missing_records: 2 })],
    unknown,
  ],
])('a call that cannot be polled is at its deadline %s', async (_, sent, expected) => {
  const call = await answeredCall(warehouse);
  for (const each of sent) await deliverTo(warehouse, call, each(call));
  expect(await booksAfterDeadline(call, undefined)).toMatchObject(expected);
});

it.each<[string, number, string, object]>([
  ['knows no such request', 404, '{"error_code":"request_id_unknown"}', settled(11)],
  ['fails', 500, '{}', held],
])('a delivery that counts all others: at the deadline the poll %s', async (_, status, body, expected) => {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, phonesOf(0, { missing_records: 2 })(call));
  expect(await booksAfterDeadline(call, [status, body])).toMatchObject(expected);
});

const target = { target_fields: ['emails', 'phone_numbers'] };
it.each<[string, Sent, string, object, LateExtras?]>([
  ['ends by a body without a count if the request has ended', phonesOf(0), 'success', settled(11)],
  ['stays held if the request is in progress', phonesOf(0), 'in_progress', held],
  ['stays held if the body counts fewer', phonesOf(0, { missing_records: 1 }), 'success', held],
  [
    'ends by a waterfall that leaves out people whom no vendor knows',
    (call) =>
      waterfall({
        ...target,
        people: [{ id: call.ids[0], emails: [{ email: 'x@orbit.example' }], phone_numbers: [] }],
      })(call),
    'success',
    settled(5),
    emailsAndPhones,
  ],
  ['stays held by e-mails if phones are expected', waterfall(target), 'success', held, emailsAndPhones],
])('a polled call at its deadline %s', async (_, body, status, expected, extras = onlyPhones) => {
  const call = await answeredCall(warehouse, extras);
  expect(await booksAfterDeadline(call, resultOf(body(call), status))).toMatchObject(expected);
});

it('a poll that lacks results of an earlier delivery does not end the wait for the call', async () => {
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
  ['settles a call of which nothing has arrived', false, settled(3)],
  ['settles no call with a delivery in the inbox', true, held],
])('a poll without a result %s', async (_, isDelivered, expected) => {
  const call = await answeredCall(warehouse);
  if (isDelivered) await storeFor(warehouse, call, phonesBody(call.ids, 24));
  await endWithoutResults(warehouse, call.attemptId, 'nothing came: failed');
  expect(await booksOf(warehouse, call)).toMatchObject(expected);
  await drainCall(warehouse, call);
  expect(await booksOf(warehouse, call)).toMatchObject(settled(isDelivered ? 27 : 3));
});

it('a poll without a result keeps the credits of a waterfall reserved, because a vain search can cost', async () => {
  const call = await answeredCall(warehouse, emailsAndPhones);
  await endWithoutResults(warehouse, call.attemptId, 'nothing came: failed');
  expect(await booksOf(warehouse, call)).toMatchObject(unknown);
  for (const field of ['emails', 'phone_numbers'] as const)
    await deliverTo(warehouse, call, waterfallBody(call, field, 7));
  expect(await booksOf(warehouse, call)).toMatchObject(settled(17));
});
