import { describe, expect, it } from 'vitest';
import { storePolled } from '../../../src/late-results/deliveries.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { callWithPhones, drainCall, recordPhonesAnswer } from '../../helpers/warehouse/late-calls.ts';
import { emailsAndPhones, lateMoneyOf, waterfallBody } from '../../helpers/warehouse/late-money.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const { answeredCall, books, deliver, statuses } = lateMoneyOf(warehouse);

describe('a waterfall that delivers addresses and phones in two bodies', () => {
  it.each([
    ['with target fields of their own', { target_fields: ['emails'] }, { target_fields: ['phone_numbers'] }],
    ['without target fields', {}, {}],
    [
      'with the target fields of the request',
      { target_fields: ['emails', 'phone_numbers'] },
      { target_fields: ['emails', 'phone_numbers'] },
    ],
  ])('a waterfall in two bodies is settled for both: %s', async (_, first, second) => {
    const call = await answeredCall(emailsAndPhones);
    await deliver(call, waterfallBody(call, 'emails', 4, first));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 60 });
    await deliver(call, waterfallBody(call, 'phone_numbers', 10, second));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 17 });
  });

  it('a waterfall in two bodies is settled for both if its answer has no price', async () => {
    const call = await answeredCall(emailsAndPhones, null);
    await deliver(call, waterfallBody(call, 'phone_numbers', 10));
    await deliver(call, waterfallBody(call, 'emails', 4));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 14 });
  });

  it.each([0, null])(
    'a waterfall that found no person is settled by its answer with the price %s',
    async (price) => {
      const call = await callWithPhones(warehouse, emailsAndPhones);
      await recordPhonesAnswer(warehouse, call, [0, 0, 0], price);
      expect(await books(call)).toMatchObject({ status: 'settled', settled: 0 });
    },
  );

  it('a waterfall in two bodies is settled for both in any order and with repetitions', async () => {
    const call = await answeredCall(emailsAndPhones);
    const [a, b, c] = call.ids as [string, string, string];
    await deliver(call, waterfallBody(call, 'phone_numbers', 7, {}, [c]));
    await deliver(call, waterfallBody(call, 'emails', 1, {}, [a, b]));
    await deliver(call, waterfallBody(call, 'emails', 1, { status: 'again' }, [a, b]));
    await deliver(call, waterfallBody(call, 'phone_numbers', 5, {}, [a, b]));
    expect(await books(call)).toMatchObject({ status: 'awaiting', settled: null });
    await deliver(call, waterfallBody(call, 'emails', 2, {}, [c]));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 18 });
  });

  it.each(['the people of vendors', 'no people'])(
    'a body with the request id of a waterfall that found no person settles its price with %s',
    async (what) => {
      const call = await callWithPhones(warehouse, emailsAndPhones);
      await recordPhonesAnswer(warehouse, call, [0, 0, 0], null);
      expect(await books(call)).toMatchObject({ status: 'settled', settled: 0 });
      const ids = what === 'no people' ? [] : ['vendor-1', 'vendor-2'];
      await deliver(call, waterfallBody(call, 'emails', 9, { request_id: '5' }, ids));
      expect(await books(call)).toMatchObject({ settled: 0 });
      await deliver(call, waterfallBody(call, 'emails', 9, {}, ids));
      await deliver(call, waterfallBody(call, 'emails', 9, { status: 'repeated' }, ids));
      expect(await books(call)).toMatchObject({ status: 'settled', settled: 9 });
      expect(await statuses(call)).toEqual(['quarantined', 'orphaned', 'orphaned']);
    },
  );

  it('a waterfall in two bodies is not complete by a poll that returns one of them', async () => {
    const call = await answeredCall(emailsAndPhones);
    const polled = waterfallBody(call, 'emails', 4, { target_fields: ['emails', 'phone_numbers'] });
    await storePolled(warehouse, call.attemptId, Buffer.from(JSON.stringify(polled)));
    await drainCall(warehouse, call);
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 60 });
  });
});

it('a part of a waterfall with addresses does not show that people have no phone', async () => {
  const call = await answeredCall(emailsAndPhones);
  await deliver(call, waterfallBody(call, 'emails', 4));
  const rows = await warehouse.query`
    select from lookup_history join lookup_runs using (lookup_run)
    where run_id = ${call.runId} and field_group = 'waterfall_phone' and not found`;
  expect(rows).toEqual([]);
});
