import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { closeWithoutCost, markUnknown } from '../../../src/ledger/close-attempt.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  callWithPhones,
  phonesBody,
  recordPhonesAnswer,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import { lateMoneyOf } from '../../helpers/warehouse/late-money.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const { answeredCall, books, deliver, statuses } = lateMoneyOf(warehouse);

async function phonesOf(call: PhonesCall): Promise<number> {
  const rows = await warehouse.query`
    select 1 from enriched_contacts where run_id = ${call.runId} and phone is not null`;
  return rows.length;
}

describe('a genuine token', () => {
  it.each<[string, (call: PhonesCall) => object | Buffer]>([
    ['no JSON', () => Buffer.from('<html>502</html>')],
    ['nothing', () => Buffer.alloc(0)],
    ['half a body', (call) => phonesBody(call.ids, 24).subarray(0, 60)],
    ['no list of people', () => ({ people: 'none', credits_consumed: 5 })],
    ['strangers with a price', () => phonesBody(['stranger-1', 'stranger-2', 'stranger-3'], 24)],
    ['strangers without a price', () => ({ people: [{ id: 'x', phone_numbers: [] }] })],
    ['no people', () => ({ people: [] })],
    ['no people and a price', () => ({ people: [], credits_consumed: 9 })],
    ['people without ids', () => ({ people: [{ phone_numbers: [] }, {}], credits_consumed: 16 })],
    ['our people at an incredible price', (call) => phonesBody(call.ids, 1_000_000)],
  ])(
    'a body with %s under a genuine token does not stop the honest delivery from settling',
    async (_, other) => {
      for (const order of ['before', 'after'] as const) {
        const call = await answeredCall();
        if (order === 'before') await deliver(call, other(call));
        expect(await books(call)).toMatchObject({ settled: null, reserved: 27 });
        await deliver(call, phonesBody(call.ids, 24));
        if (order === 'after') await deliver(call, other(call));
        expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
        expect(await phonesOf(call)).toBe(3);
      }
    },
  );

  it('a foreign or unreadable body under a genuine token is quarantined, and the honest one settles', async () => {
    const call = await answeredCall();
    await deliver(call, Buffer.from('<html>'));
    await deliver(call, phonesBody(['stranger'], 8));
    expect(await statuses(call)).toEqual(['quarantined', 'quarantined']);
    await deliver(call, phonesBody(call.ids, 24));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('a body in gzip settles its call, although a proxy has removed the name of the coding', async () => {
    const call = await answeredCall();
    await deliver(call, gzipSync(phonesBody(call.ids, 24)));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('a price that was delivered stays held if the worker of the unknown call finds it refused', async () => {
    const call = await callWithPhones(warehouse);
    await markUnknown(warehouse, call.attemptId, 'the worker was lost');
    await deliver(call, phonesBody(call.ids, 24));
    await closeWithoutCost(warehouse, call.attemptId, { status: 'refused', reason: 'HTTP 429' });
    expect(await books(call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
  });

  it('a body with the request id of another call settles and writes nothing there', async () => {
    const [own, other] = [await answeredCall(), await answeredCall()];
    await deliver(own, phonesBody(other.ids, 24, { request_id: other.requestId }));
    for (const call of [own, other])
      expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
    expect(await phonesOf(other)).toBe(0);
    expect(await statuses(own)).toEqual(['quarantined']);
    await deliver(own, phonesBody(own.ids, 24, { request_id: other.requestId }));
    expect(await books(own)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('a body of another request has no price, although the answer does not list all found people', async () => {
    const [own, other] = [await callWithPhones(warehouse), await answeredCall()];
    await recordPhonesAnswer(warehouse, own, [1, 1, 0], 3, 'pending', { uniqueEnrichedRecords: 3 });
    await deliver(own, phonesBody(['vendor-1'], 8, { request_id: other.requestId }));
    expect(await statuses(own)).toEqual(['quarantined']);
    await deliver(own, phonesBody(own.ids, 24));
    expect(await books(own)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('a body with the request id of its own call has a price, also if another call has this id', async () => {
    const [own, other] = [await callWithPhones(warehouse), await answeredCall()];
    await recordPhonesAnswer(warehouse, own, [1, 1, 0], 3, 'pending', { uniqueEnrichedRecords: 3 });
    await warehouse.query`
      update attempts set request_id = ${other.requestId} where attempt_id = ${own.attemptId}`;
    await deliver(own, phonesBody(['vendor-1'], 8, { request_id: other.requestId }));
    await deliver(own, phonesBody(own.ids.slice(0, 2), 16));
    expect(await books(own)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('a person without an id is the same in a body that states another status of the number', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call, [1, 1, 0], 3, 'pending', { uniqueEnrichedRecords: 3 });
    const ofNobody = (status_cd: string) => ({
      phone_numbers: [{ sanitized_number: '+14155550108', type_cd: 'mobile', status_cd }],
    });
    await deliver(call, { credits_consumed: 8, people: [ofNobody('no_status')] });
    await deliver(call, { credits_consumed: 8, people: [ofNobody('valid_number')] });
    await deliver(call, phonesBody(call.ids.slice(0, 2), 16));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('a body with an impossible price is quarantined, its call is unknown, and the run continues', async () => {
    const call = await answeredCall();
    await deliver(call, phonesBody(call.ids, 1_000_000));
    expect(await statuses(call)).toEqual(['quarantined']);
    expect(await books(call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
    expect(await getRun(warehouse, call.runId)).toMatchObject({ status: 'running', pauseReason: null });
    await deliver(call, phonesBody(call.ids, 24));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('a body whose price exceeds the reservation only together with the answer leaves the cost unknown', async () => {
    const call = await answeredCall();
    await deliver(call, phonesBody(call.ids, 27));
    expect(await books(call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
    expect(await getRun(warehouse, call.runId)).toMatchObject({
      status: 'paused',
      pauseReason: { type: 'service.overbilled' },
    });
  });

  it('a genuine token expires when its call is older than results are kept', async () => {
    const call = await answeredCall();
    await warehouse.query`
      update attempts set admitted_at = now() - interval '31 days' where run_id = ${call.runId}`;
    await deliver(call, phonesBody(call.ids, 24));
    expect(await statuses(call)).toEqual([]);
  });
});
