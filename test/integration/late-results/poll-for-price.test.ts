import { afterAll, beforeEach, expect, it } from 'vitest';
import { syncRunResults } from '../../../src/late-results/sync-late-results.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  booksOf,
  callWithPhones,
  phonesBody,
  recordPhonesAnswer,
  storeFor,
  type Books,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import { startPolledService } from '../../helpers/servers/polled-service.ts';

const warehouse = await warehouseOfFile();
const service = await startPolledService();
let call: PhonesCall;

afterAll(() => service.close());

/** The body of a delivery with every phone and without a price. */
function unpricedBody(): Buffer {
  return phonesBody(call.ids, 'null');
}

beforeEach(async () => {
  service.requests.length = 0;
  call = await callWithPhones(warehouse);
  await recordPhonesAnswer(warehouse, call);
  await storeFor(warehouse, call, unpricedBody());
});

async function sync(rateLimits: { calls: number; seconds: number }[] = []): Promise<{ awaited: number }> {
  const dependencies = {
    warehouse,
    service: 'test',
    client: service.client,
    rateLimits,
    callTimeoutSeconds: 5,
    pollAfterSeconds: 60,
  };
  return syncRunResults(dependencies, call.runId, AbortSignal.timeout(120_000));
}

async function booksAfter(status: number, body: string): Promise<Books> {
  service.answerWith(status, body);
  await sync();
  return booksOf(warehouse, call);
}

/** The answer to a poll that has a result. */
const resultOf = (body: Buffer): string => `{"webhook_status":"success","webhook_result":${body.toString()}}`;

it('a call whose deliveries state no price is settled by the price of a poll, which is made at once', async () => {
  expect(await booksAfter(200, resultOf(phonesBody(call.ids, 24)))).toMatchObject({
    status: 'settled',
    settled: 27,
  });
  expect(service.requests).toHaveLength(1);
});

it.each([
  ['brings the same body', 200, () => resultOf(unpricedBody())],
  ['brings another body without a price', 200, () => resultOf(phonesBody(call.ids, 'null', { again: 1 }))],
  ['brings a body of strangers', 200, () => resultOf(phonesBody(['stranger'], 8))],
  ['fails for good', 404, () => JSON.stringify({ error_code: 'request_id_expired' })],
])('a call whose deliveries state no price is unknown after a poll that %s', async (_, status, body) => {
  expect(await booksAfter(status, body())).toEqual({ status: 'unknown', settled: null, reserved: 27 });
});

it('a call whose deliveries state no price is polled again if its result is pending', async () => {
  const pending = JSON.stringify({ error_code: 'result_pending' });
  expect(await booksAfter(404, pending)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
  expect(await sync()).toMatchObject({ awaited: 1 });
});
