import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { undoRun } from '../../../src/runs/undo-run.ts';
import { endRun } from '../../../src/runs/runs.ts';
import { suppress } from '../../../src/privacy/suppressions.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import {
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
  type LateExtras,
  type PhonesCall,
} from '../../helpers/late-calls.ts';

let warehouse: TestWarehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.drop());

const waterfall: LateExtras = { reveal: [], waterfall: ['email', 'phone'] };

async function answeredCall(extras: LateExtras): Promise<PhonesCall> {
  const call = await callWithPhones(warehouse, extras);
  await recordPhonesAnswer(warehouse, call);
  return call;
}

const deliver = (call: PhonesCall, body: object): Promise<void> =>
  deliverTo(warehouse, call, Buffer.from(JSON.stringify({ request_id: call.requestId, ...body })));

async function contactsOf(call: PhonesCall): Promise<{ email: string | null; phone: string | null }[]> {
  const { rows } = await warehouse.pool.query<{ email: string | null; phone: string | null }>(
    'select email, phone from enriched_contacts where run_id = $1 order by contact_id',
    [call.runId],
  );
  return rows;
}

async function deliveriesOf(call: PhonesCall): Promise<{ status: string; hasBody: boolean }[]> {
  const { rows } = await warehouse.pool.query<{ status: string; hasBody: boolean }>(
    `select status, body is not null as "hasBody" from webhook_deliveries where attempt_id = $1 order by received_at`,
    [call.attemptId],
  );
  return rows;
}

const phoneOf = (index: number): object => ({
  sanitized_number: `+1415555040${index}`,
  type_cd: 'mobile',
  status_cd: 'valid_number',
});

describe('a late result of somebody on the suppression list', () => {
  it.each<[string, (call: PhonesCall) => object]>([
    ['the same id', (call) => ({ id: call.ids[0] })],
    ['another id', () => ({ id: 'other-id' })],
    ['no id', () => ({})],
  ])('a late result with a listed address is dropped, under %s', async (_, who) => {
    const call = await answeredCall(waterfall);
    const own = call.people[0]!.identity.email!;
    const listed = `private-${call.runId.toLowerCase()}@home.example`;
    await warehouse.database
      .transaction()
      .execute((transaction) =>
        suppress(transaction, [`email:${listed}`], { by: 'test', reason: undefined }),
      );
    await deliver(call, {
      credits_consumed: 4,
      people: [
        {
          ...who(call),
          emails: [
            { email: own, email_status_cd: 'unverified' },
            { email: listed.toUpperCase(), email_status_cd: 'verified' },
          ],
          phone_numbers: [phoneOf(0)],
        },
        { id: call.ids[1], emails: [], phone_numbers: [phoneOf(1)] },
      ],
    });
    expect(await contactsOf(call)).toMatchObject([
      { email: own, phone: null },
      { phone: '+14155550401' },
      { phone: null },
    ]);
    expect(await deliveriesOf(call)).toEqual([{ status: 'applied', hasBody: false }]);
  });

  it('a late result is dropped if its contact has a listed key and the body has another id', async () => {
    const call = await answeredCall(waterfall);
    const own = call.people[0]!.identity.email!;
    await warehouse.database
      .transaction()
      .execute((transaction) =>
        suppress(transaction, [`person:${call.ids[0]}`], { by: 'test', reason: undefined }),
      );
    await deliver(call, {
      credits_consumed: 4,
      people: [{ id: 'other-id', emails: [{ email: own }], phone_numbers: [phoneOf(0)] }],
    });
    expect((await contactsOf(call))[0]).toMatchObject({ phone: null });
    expect((await deliveriesOf(call))[0]).toMatchObject({ hasBody: false });
  });
});

describe('a body', () => {
  it('a body with 40,000 people is read up to the limit, and its part for the call is applied', async () => {
    const call = await answeredCall(waterfall);
    const own = call.ids.map((id, index) => ({ id, emails: [], phone_numbers: [phoneOf(index)] }));
    const empty = Array.from({ length: 40_000 }, () => ({}));
    await deliver(call, { credits_consumed: 6, people: [...own, ...empty] });
    const { rows } = await warehouse.pool.query(
      'select reason from webhook_deliveries where attempt_id = $1',
      [call.attemptId],
    );
    // Only the first thousand are compared with the call.
    expect(rows).toEqual([{ reason: expect.stringContaining('39,003 people cannot be read') }]);
    expect((await contactsOf(call)).map(({ phone }) => phone)).toEqual([
      '+14155550400',
      '+14155550401',
      '+14155550402',
    ]);
  });

  it.each(['a\u0000b', 'a\u0000b@orbit.example', '\ud800@orbit.example', 'x'.repeat(5_000), '', '@'])(
    'a body with the address %j applies the rest, also with a suppression list',
    async (email) => {
      await warehouse.database
        .transaction()
        .execute((transaction) =>
          suppress(transaction, ['email:x@y.example'], { by: 'test', reason: undefined }),
        );
      const call = await answeredCall(waterfall);
      await deliver(call, {
        credits_consumed: 6,
        people: call.ids.map((id, index) => ({ id, emails: [{ email }], phone_numbers: [phoneOf(index)] })),
      });
      expect((await contactsOf(call)).every(({ phone }) => phone !== null)).toBe(true);
      expect(await deliveriesOf(call)).toEqual([{ status: 'applied', hasBody: true }]);
    },
  );
});

describe('a phone request that is skipped because an earlier one is in flight', () => {
  it.each(['before', 'after'] as const)(
    'a skipped phone request keeps the phones brought %s its answer when the earlier run is undone',
    async (order) => {
      const earlier = await answeredCall({ reveal: ['phone'], waterfall: [] });
      const call = await callWithPhones(warehouse);
      const record = (): Promise<void> =>
        recordPhonesAnswer(warehouse, { ...call, ids: earlier.ids }, [1, 1, 1], 3, 'skipped');
      if (order === 'after') await record();
      await deliverTo(warehouse, earlier, phonesBody(earlier.ids.slice(0, 2), 16));
      if (order === 'before') await record();
      expect((await contactsOf(call)).map(({ phone }) => phone)).toEqual([
        '+14155550100',
        '+14155550101',
        null,
      ]);
      await deliverTo(warehouse, earlier, phonesBody(earlier.ids.slice(2), 8));
      expect((await contactsOf(call))[2]!.phone).toBe('+14155550100');
      const { rows } = await warehouse.pool.query(
        'select status, credits_settled::int as settled from attempts where attempt_id = any($1) order by admitted_at',
        [[earlier.attemptId, call.attemptId]],
      );
      expect(rows).toEqual([
        { status: 'settled', settled: 27 },
        { status: 'settled', settled: 3 },
      ]);
      const { signal } = new AbortController();
      await endRun(warehouse, earlier.runId, 'finished', undefined);
      await undoRun(warehouse, earlier.runId, { by: 'test', reason: undefined }, signal);
      expect((await contactsOf(call)).map(({ phone }) => phone)).toEqual([
        '+14155550100',
        '+14155550101',
        '+14155550100',
      ]);
    },
  );
});
