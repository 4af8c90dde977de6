import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { storePolled } from '../../../src/late-results/deliveries.ts';
import { settleByLastBody } from '../../../src/late-results/delivered-bodies.ts';
import { endAwaitedByPoll } from '../../../src/late-results/late-polls.ts';
import { readLateResult } from '../../../src/service/answers/late-result.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  callWithPhones,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  storeFor,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import { emailsAndPhones, lateMoneyOf, waterfallBody } from '../../helpers/warehouse/late-money.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const { answeredCall, books, deliver } = lateMoneyOf(warehouse);

describe('a poll that says that nothing came', () => {
  it.each([
    ['settles a request of which nothing has arrived', false, { status: 'settled', settled: 3 }],
    ['settles no request with a delivery in the inbox', true, { status: 'awaiting', settled: null }],
  ])('a poll without a result: %s', async (_, isDelivered, expected) => {
    const call = await answeredCall();
    if (isDelivered) await storeFor(warehouse, call, phonesBody(call.ids, 24));
    await endAwaitedByPoll(warehouse, call.attemptId, 'nothing came: failed');
    expect(await books(call)).toMatchObject(expected);
    await drainCall(warehouse, call);
    expect(await books(call)).toMatchObject({ status: 'settled', settled: isDelivered ? 27 : 3 });
  });

  it('a poll without a result holds the credits of a waterfall, whose vendors can bill a vain search', async () => {
    const call = await answeredCall(emailsAndPhones);
    await endAwaitedByPoll(warehouse, call.attemptId, 'nothing came: failed');
    expect(await books(call)).toMatchObject({ status: 'unknown', settled: null });
    await deliver(call, waterfallBody(call, 'emails', 4));
    await deliver(call, waterfallBody(call, 'phone_numbers', 10));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 17 });
  });
});

describe('the last poll, once the waiting is over', () => {
  /** What the service still has of a call at its deadline. */
  async function pollLast(call: PhonesCall, body: Buffer): Promise<void> {
    await storePolled(warehouse, call.attemptId, body);
    await drainCall(warehouse, call);
    await settleByLastBody(warehouse, call.attemptId, {
      hash: createHash('sha256').update(body).digest('hex'),
      content: readLateResult(body)!,
      from: 'unfinished poll',
    });
  }

  it('the last poll settles a request whose only body counts all other people as missing', async () => {
    const call = await answeredCall();
    const body = phonesBody([call.ids[0]!], 8, { missing_records: 2 });
    await deliver(call, body);
    expect(await books(call)).toMatchObject({ status: 'awaiting' });
    await pollLast(call, body);
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 11 });
  });

  it.each([
    ['that does not count the rest as missing', { missing_records: 1 }, 0],
    ['beside which another part came', { missing_records: 2 }, 1],
  ])('the last poll leaves a request open by a part %s', async (_, more, others) => {
    const call = await answeredCall();
    if (others > 0) await deliver(call, phonesBody([call.ids[1]!], 8));
    await pollLast(call, phonesBody([call.ids[0]!], 8, more));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
  });

  it('the last poll leaves a request open if its body names fewer people than were asked for', async () => {
    const call = {
      ...(await callWithPhones(warehouse)),
      surplus: [{ id: 'stranger', first_name: 'Zed', last_name: 'Foreign' }],
    };
    await recordPhonesAnswer(warehouse, call);
    await pollLast(call, phonesBody(call.ids.slice(0, 2), 16, { missing_records: 0 }));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
  });

  it('the last poll settles a waterfall that omits people whom no vendor knows', async () => {
    const call = await answeredCall(emailsAndPhones);
    const more = { target_fields: ['emails', 'phone_numbers'] };
    const emails = [{ email: 'ada@orbit.example', email_status_cd: 'verified' }];
    const people = [{ id: call.ids[0], emails, phone_numbers: [] }];
    const body = waterfallBody(call, 'emails', 2, { ...more, people });
    await pollLast(call, Buffer.from(JSON.stringify(body)));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 5 });
  });

  it('the last poll leaves a waterfall open if its body has no list of phones', async () => {
    const call = await answeredCall(emailsAndPhones);
    const more = { target_fields: ['emails', 'phone_numbers'] };
    await pollLast(call, Buffer.from(JSON.stringify(waterfallBody(call, 'emails', 4, more))));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 60 });
    await deliver(call, waterfallBody(call, 'phone_numbers', 10, more));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 17 });
  });
});
