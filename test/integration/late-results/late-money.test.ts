import { describe, expect, it } from 'vitest';
import { markUnknown } from '../../../src/ledger/close-attempt.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { openTestWarehouse, warehouseOfFile } from '../../helpers/database/database.ts';
import {
  callWithPhones,
  deliverTo,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  type Books,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import { lateMoneyOf } from '../../helpers/warehouse/late-money.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const { answeredCall, books, deliver, statuses } = lateMoneyOf(warehouse);

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
