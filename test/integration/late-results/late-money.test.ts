import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { settleByLastBody } from '../../../src/late-results/last-bodies.ts';
import { endAwaitedByPoll } from '../../../src/late-results/late-polls.ts';
import { readLateResult } from '../../../src/service/answers/late-result.ts';
import { closeWithoutCost, markUnknown } from '../../../src/ledger/close-attempt.ts';
import { storePolled } from '../../../src/late-results/deliveries.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { openTestWarehouse, warehouseOfFile } from '../../helpers/database/database.ts';
import {
  booksOf,
  callWithPhones,
  deliverTo,
  deliveryStatuses,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  storeFor,
  type Books,
  type LateExtras,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';

const warehouse = await warehouseOfFile();

const emailsAndPhones: LateExtras = { reveal: [], waterfall: ['email', 'phone'] };

/** A call of three people that is answered. */
async function answeredCall(extras?: LateExtras, credits: number | null = 3): Promise<PhonesCall> {
  const call = await callWithPhones(warehouse, extras);
  await recordPhonesAnswer(warehouse, call, [1, 1, 1], credits);
  return call;
}

const books = (call: PhonesCall): Promise<Books> => booksOf(warehouse, call);
const statuses = (call: PhonesCall): Promise<string[]> => deliveryStatuses(warehouse, call);

async function phonesOf(call: PhonesCall): Promise<number> {
  const rows = await warehouse.query`
    select 1 from enriched_contacts where run_id = ${call.runId} and phone is not null`;
  return rows.length;
}

const deliver = (call: PhonesCall, body: object | Buffer): Promise<void> =>
  deliverTo(warehouse, call, Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)));

/** The waterfall's addresses, or its phones, of some people. */
function waterfallBody(
  call: PhonesCall,
  field: 'emails' | 'phone_numbers',
  credits: number,
  more: object = {},
  ids = call.ids,
): object {
  const phone = (index: number) => ({ sanitized_number: `+1415555020${index}`, type_cd: 'mobile' });
  return {
    status: 'success',
    request_id: call.requestId,
    credits_consumed: credits,
    people: ids.map((id, index) => ({
      id,
      ...(field === 'emails'
        ? { emails: [{ email: `${id}@orbit.example`, email_status_cd: 'verified' }] }
        : { phone_numbers: [phone(index)] }),
    })),
    ...more,
  };
}

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

describe('a whole after its parts', () => {
  it('a whole result that costs less than its parts and brings more leaves the credits unknown', async () => {
    const call = await answeredCall();
    await deliver(call, phonesBody([call.ids[0]!], 8));
    await deliver(call, phonesBody([call.ids[1]!], 8));
    await deliver(call, phonesBody(call.ids, 8));
    expect(await books(call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
  });

  it('a whole result that brings no more than its parts costs the higher of both', async () => {
    const call = await answeredCall();
    for (const id of call.ids) await deliver(call, phonesBody([id], 8));
    await deliver(call, phonesBody(call.ids, 8));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });
});

it.each(['person', 'body'])(
  'a part whose %s is pending does not show that people have no numbers',
  async (what) => {
    const call = await answeredCall();
    const status = 'in_progress';
    const people = call.ids.map((id) => ({ id, phone_numbers: [], ...(what === 'person' && { status }) }));
    await deliver(call, { credits_consumed: 0, people, ...(what === 'body' && { status }) });
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
    await deliver(call, phonesBody(call.ids, 24));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  },
);

it('a part that states the price of the whole leaves the credits held and pauses the run', async () => {
  const call = await answeredCall();
  for (const id of call.ids) await deliver(call, phonesBody([id], 24));
  expect(await books(call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
  expect(await getRun(warehouse, call.runId)).toMatchObject({ status: 'paused' });
});

it('a part that counts the rest as missing does not complete the rest', async () => {
  const call = await answeredCall();
  for (const [index, id] of call.ids.entries()) {
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
    const counts = { total_requested_enrichments: 3, unique_enriched_records: 1, missing_records: 2 };
    await deliver(call, phonesBody([id], 8, index === 1 ? { ...counts, missing_records: 30 } : counts));
  }
  expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
});

describe('a genuine token', () => {
  it.each<[string, (call: PhonesCall) => object | Buffer]>([
    ['no JSON', () => Buffer.from('<html>502</html>')],
    ['nothing', () => Buffer.alloc(0)],
    ['half a body', (call) => phonesBody(call.ids, 24).subarray(0, 60)],
    ['no list of people', () => ({ people: 'none', credits_consumed: 5 })],
    ['strangers with a price', () => phonesBody(['stranger-1', 'stranger-2', 'stranger-3'], 24)],
    ['strangers without a price', () => ({ people: [{ id: 'x', phone_numbers: [] }] })],
    ['nobody', () => ({ people: [] })],
    ['nobody, with a price', () => ({ people: [], credits_consumed: 9 })],
    ['people without ids', () => ({ people: [{ phone_numbers: [] }, {}], credits_consumed: 16 })],
    ['our people at an incredible price', (call) => phonesBody(call.ids, 1_000_000)],
  ])(
    'a body with %s under a genuine token does not stop the honest delivery from settling',
    async (_, other) => {
      for (const order of ['before', 'after'] as const) {
        const call = await answeredCall();
        if (order === 'before') await deliver(call, other(call));
        expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
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

  it('a body with an incredible price holds the credits, and the paused run names its delivery', async () => {
    const call = await answeredCall();
    await deliver(call, phonesBody(call.ids, 1_000_000));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
    const rows = await warehouse.query<{ id: string }>`
      select delivery_id as id from webhook_deliveries where attempt_id = ${call.attemptId}`;
    expect(await getRun(warehouse, call.runId)).toMatchObject({
      status: 'paused',
      pauseReason: {
        type: 'service.overbilled',
        reason: `a delivery for attempt ${call.attemptId} states more credits than its call can cost`,
        next: expect.stringContaining(`enrich inbox show ${rows[0]!.id}`),
      },
    });
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

describe('an answer with more people than were asked for', () => {
  async function callWithSurplus(): Promise<PhonesCall> {
    const surplus = [{ id: 'stranger', first_name: 'Zed', last_name: 'Foreign' }];
    const call = { ...(await callWithPhones(warehouse)), surplus };
    await recordPhonesAnswer(warehouse, call);
    return call;
  }

  it('a call is settled by the phones of all people who were asked for, if the answer has others as well', async () => {
    const call = await callWithSurplus();
    await deliver(call, phonesBody(call.ids, 24));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it.each<[string, object, Partial<Books>]>([
    [
      'is settled if the answer counts them',
      { uniqueEnrichedRecords: 2, missingRecords: 1 },
      { settled: 19 },
    ],
    ['waits for a person without a row whom no count excludes', {}, { settled: null, reserved: 27 }],
    ['waits if the counts contradict', { uniqueEnrichedRecords: 2, missingRecords: 2 }, { settled: null }],
  ])('a call with the phones of all people with a row %s', async (_, counts, expected) => {
    const surplus = [{ id: 'stranger', first_name: 'Zed', last_name: 'Foreign' }];
    const call = { ...(await callWithPhones(warehouse)), surplus };
    await recordPhonesAnswer(warehouse, call, [1, 1, 0], 3, undefined, counts);
    await deliver(call, phonesBody(call.ids.slice(0, 2), 16));
    expect(await books(call)).toMatchObject(expected);
  });

  it('a call waits for the phones of each person with a row, whatever the answer counts', async () => {
    const call = await callWithPhones(warehouse);
    const counts = { uniqueEnrichedRecords: 1, missingRecords: 2 };
    await recordPhonesAnswer(warehouse, call, [1, 1, 1], 1, undefined, counts);
    await deliver(call, phonesBody(call.ids.slice(0, 2), 16));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 25 });
  });

  it('a call waits for the phones of each person with a row, whoever else has phones', async () => {
    const call = await callWithSurplus();
    await deliver(call, phonesBody([...call.ids.slice(0, 2), 'stranger'], 16));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
    await deliver(call, phonesBody(call.ids.slice(2), 8));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });
});

describe('a call without an answer', () => {
  const unanswered = { status: 'unknown', settled: null, reserved: 27 };

  async function unansweredCall(): Promise<PhonesCall> {
    const call = await callWithPhones(warehouse);
    await markUnknown(warehouse, call.attemptId, 'no answer in time');
    return call;
  }

  it('a delivery about people of another call has no price for a call without an answer', async () => {
    const [call, other] = [await unansweredCall(), await answeredCall()];
    await deliver(call, phonesBody(other.ids, 40));
    expect(await statuses(call)).toEqual(['quarantined']);
    expect(await books(call)).toEqual(unanswered);
    expect(await getRun(warehouse, call.runId)).toMatchObject({ status: 'running' });
  });

  it('a delivery with the request id of another call has no price for a call without an answer', async () => {
    const [call, other] = [await unansweredCall(), await answeredCall()];
    await deliver(call, phonesBody(['vendor-1'], 40, { request_id: other.requestId }));
    expect(await statuses(call)).toEqual(['quarantined']);
    expect(await books(call)).toEqual(unanswered);
  });

  it('a delivery that seemed to be of another call is applied when the answer names its people', async () => {
    const [call, other] = [await unansweredCall(), await answeredCall()];
    const early = { ...call, ids: other.ids };
    await deliver(early, phonesBody(early.ids, 24));
    await recordPhonesAnswer(warehouse, early);
    await drainCall(warehouse, early);
    expect(await statuses(early)).toEqual(['applied']);
    expect(await books(early)).toMatchObject({ status: 'settled', settled: 27 });
  });
});

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

it('a part of a waterfall with addresses does not show that people have no phone', async () => {
  const call = await answeredCall(emailsAndPhones);
  await deliver(call, waterfallBody(call, 'emails', 4));
  const rows = await warehouse.query`
    select from lookup_history join lookup_runs using (lookup_run)
    where run_id = ${call.runId} and field_group = 'waterfall_phone' and not found`;
  expect(rows).toEqual([]);
});

it('a call that passes midnight is settled in the day of its admission, and the next day is free', async () => {
  const calendar = await openTestWarehouse();
  // Found before the function of PostgreSQL, by the search path of every connection.
  await calendar.query`
    create table shift (ahead interval);
    insert into shift values ('0');
    create function clock_timestamp() returns timestamptz language sql volatile
      as 'select pg_catalog.clock_timestamp() + (select ahead from shift)';
    insert into default_budgets (period, credits_limit) values ('day', 27)`;
  const days = async () => {
    return calendar.query`
      select reserved::float8, settled::float8
      from budgets where budget_id like 'day:%' order by budget_id`;
  };
  const call = await callWithPhones(calendar);
  await expect(callWithPhones(calendar)).rejects.toThrow('over_budget');
  await calendar.query`update shift set ahead = '1 day'`;
  await callWithPhones(calendar);
  await recordPhonesAnswer(calendar, call);
  await deliverTo(calendar, call, phonesBody(call.ids, 24));
  expect(await days()).toEqual([
    { reserved: 0, settled: 27 },
    { reserved: 27, settled: 0 },
  ]);
  await calendar.close();
});
