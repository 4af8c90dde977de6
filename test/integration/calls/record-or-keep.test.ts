import { describe, expect, it } from 'vitest';
import { wholeCredits, parseCredits } from '../../../src/domain/money/decimal.ts';
import { recordOrKeep } from '../../../src/calls/attempt-call.ts';
import type { Logger } from '../../../src/telemetry/log.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { callWithPhones, type PhonesCall } from '../../helpers/warehouse/late-calls.ts';
import { putOnList } from '../../helpers/warehouse/put-on-list.ts';
import { outcomesOf } from '../../helpers/warehouse/rows.ts';
import { answerWith } from '../../helpers/warehouse/answer-with.ts';

const warehouse = await warehouseOfFile();

const log = { error: () => {} } as unknown as Logger;

async function record(call: PhonesCall, id: string, price: bigint): ReturnType<typeof recordOrKeep> {
  return recordOrKeep({ warehouse, log }, await getRun(warehouse, call.runId), {
    attemptId: call.attemptId,
    people: call.people,
    pollAfterSeconds: 60,
    answer: answerWith(
      call.people.map(({ identity }, index) => ({
        id: index === 0 ? id : `p${index}-${call.runId}`,
        last_name: identity.lastName!,
        first_name: identity.firstName!,
        email: identity.email!,
      })),
      {
        requestId: '1',
        creditsConsumed: price,
        phoneEnrichment: { status: 'failed' },
        raw: Buffer.from('{"paid":"for"}'),
      },
    ),
  });
}

async function attempt(call: PhonesCall): Promise<object> {
  const rows = await warehouse.query<object>`
    select status, reason, credits_settled as settled, credits_reserved::int as reserved,
      exists (select 1 from raw_answers r where r.attempt_id = a.attempt_id) as kept
    from attempts a where attempt_id = ${call.attemptId}`;
  return rows[0]!;
}

describe('an answer that cannot be recorded', () => {
  it('an answer that the database refuses is kept, makes the call unknown and pauses the run', async () => {
    const call = await callWithPhones(warehouse);
    // Longer than an entry of an index can be, and of no pattern that would be compressed.
    const id = Array.from({ length: 9_000 }, (_, at) => ((at * at * 7_919 + at * 31) % 36).toString(36)).join(
      '',
    );
    const random = Buffer.from(Array.from({ length: 9_000 }, () => Math.floor(Math.random() * 256)));
    const recorded = await record(call, id + random.toString('base64'), wholeCredits(3));
    expect(recorded).toMatchObject({ type: 'answer.not-recorded' });
    expect(await getRun(warehouse, call.runId)).toMatchObject({ status: 'paused', pauseReason: recorded! });
    expect(await attempt(call)).toEqual({
      status: 'unknown',
      reason: 'the answer cannot be recorded (54000)',
      settled: null,
      reserved: 27,
      kept: true,
    });
  });

  it('an answer that this release fails to process is kept, makes the call unknown and pauses the run', async () => {
    const call = await callWithPhones(warehouse);
    const unexpected = {} as string;
    expect(await record(call, unexpected, wholeCredits(3))).toMatchObject({ type: 'answer.not-recorded' });
    expect(await attempt(call)).toMatchObject({
      status: 'unknown',
      reason: 'the answer cannot be recorded (TypeError)',
      kept: true,
    });
  });

  it.each([
    ['erased', (key: string) => erase(warehouse, [key], { by: 'test', reason: undefined })],
    ['suppressed', (key: string) => putOnList(warehouse, key)],
  ])('an answer that cannot be recorded is not kept if a person of its call was %s', async (_, remove) => {
    const call = await callWithPhones(warehouse);
    await remove(`email:${call.people[1]!.identity.email}`);
    const recorded = await record(call, {} as string, wholeCredits(3));
    expect(recorded).toMatchObject({ type: 'answer.not-recorded' });
    expect(recorded!.next).not.toContain('raw_answers');
    expect(await attempt(call)).toMatchObject({ status: 'unknown', reserved: 27, kept: false });
  });
});

it.each(['99999999999999', '1000000000'])(
  'an answer of %s credits is recorded, its credits stay held, and the run pauses',
  async (price) => {
    const call = await callWithPhones(warehouse);
    const recordNow = () => record(call, `p0-${call.runId}`, parseCredits(price)!);
    expect(await recordNow()).toBeUndefined();
    expect(await getRun(warehouse, call.runId)).toMatchObject({
      status: 'paused',
      pauseReason: { type: 'service.overbilled' },
    });
    // The reply to the commit was lost.
    expect(await recordNow()).toBeUndefined();
    expect(await outcomesOf(warehouse, call.runId)).toEqual(Array(3).fill('enriched'));
    expect(await attempt(call)).toEqual({
      status: 'unknown',
      reason: 'credits_consumed is too large to be a price',
      settled: null,
      reserved: 27,
      kept: true,
    });
  },
);
