import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wholeCredits } from '../../src/domain/decimal.ts';
import { drainInbox } from '../../src/enrichment/late-results.ts';
import { admit } from '../../src/limits/admit.ts';
import { decideAttempt } from '../../src/warehouse/attempts.ts';
import { markUnknown } from '../../src/warehouse/close-attempt.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/database.ts';
import { storeDelivery, storePolled } from '../../src/warehouse/deliveries.ts';
import { readOpenPeople, type OpenPerson } from '../../src/warehouse/open-people.ts';
import { recordAnswer } from '../../src/warehouse/record-answer.ts';
import { setRunStatus } from '../../src/warehouse/runs.ts';
import { planRows } from '../../src/warehouse/plan.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database.ts';
import { asked, stagedRun } from '../helpers/rows.ts';

let database: TestDatabase;
let warehouse: Warehouse;

beforeAll(async () => {
  database = await createTestDatabase();
  warehouse = openWarehouse(database.databaseUrl);
});

afterAll(async () => {
  await warehouse.close();
  await database.drop();
});

let names = 0;
const extras = { reveal: ['phone'] as const, waterfall: [] };

interface Call {
  readonly attemptId: string;
  readonly token: string;
  readonly people: readonly OpenPerson[];
  readonly ids: readonly string[];
}

/** Three people are being asked for, with their phones. */
async function callInTheAir(): Promise<Call> {
  names += 1;
  const people = ['a', 'b', 'c'].map((letter) => ({
    keys: [`email:${letter}${names}@orbit.example`],
    email: `${letter}${names}@orbit.example`,
    firstName: 'Ada',
    lastName: `Novak${letter}${names}`,
    contactId: `${letter}-${names}`,
  }));
  const run = await stagedRun(warehouse, people);
  await warehouse.pool.query(
    `update runs set options = options || '{"reveal": ["phone"]}'::jsonb where run_id = $1`,
    [run.runId],
  );
  await planRows(warehouse, run.runId, asked);
  await setRunStatus(warehouse, run.runId, 'running', undefined);
  const open = await readOpenPeople(warehouse.database, run.runId, 1);
  const admission = await admit(
    warehouse.database,
    {
      runId: run.runId,
      batch: 1,
      rowNumbers: open.map((person) => person.rowNumber),
      creditsPerPerson: wholeCredits(9),
      deadlineSeconds: 30,
      lateResults: true,
    },
    { rateLimits: [], budgets: { perDay: undefined, perMonth: undefined } },
  );
  if (admission.kind !== 'admitted') throw new Error(admission.kind);
  const ids = ['a', 'b', 'c'].map((letter) => `person-${letter}${names}`);
  return { attemptId: admission.attemptId, token: admission.token!, people: open, ids };
}

async function answer(call: Call, matches: readonly (0 | 1)[] = [1, 1, 1], credits = 3): Promise<void> {
  await recordAnswer(warehouse, {
    attemptId: call.attemptId,
    source: 'generic',
    people: call.people,
    asked: { ...extras, service: 'test' },
    lateResults: { pollAfterSeconds: 60, deadlineSeconds: 3_600 },
    answer: {
      httpStatus: 200,
      requestId: `-90071992547409${names}`,
      matches: matches.map((found, index) => {
        const { identity } = call.people[index]!;
        return found
          ? {
              id: call.ids[index]!,
              first_name: identity.firstName,
              last_name: identity.lastName,
              email: identity.email,
            }
          : null;
      }),
      unreadableMatches: [],
      creditsConsumed: wholeCredits(credits),
      creditsProblem: undefined,
      raw: Buffer.from('{}'),
      contentType: 'application/json',
    },
  });
}

function body(ids: readonly string[], credits: number | string, more: object = {}): Buffer {
  const people = ids.map((id, index) => ({
    id,
    phone_numbers: [
      { sanitized_number: `+1415555010${index}`, type_cd: 'mobile', status_cd: 'valid_number' },
    ],
  }));
  const text = JSON.stringify({ ...more, credits_consumed: 'PRICE', people });
  return Buffer.from(text.replace('"PRICE"', String(credits)));
}

async function deliver(call: Call, content: Buffer): Promise<void> {
  await storeDelivery(warehouse, {
    tokenHash: createHash('sha256').update(call.token).digest(),
    body: content,
    contentEncoding: undefined,
  });
  await drain(call);
}

async function drain(call: Call): Promise<void> {
  await drainInbox(warehouse, { attemptId: call.attemptId }, new AbortController().signal);
}

async function books(call: Call): Promise<{ status: string; settled: number | null; reserved: number }> {
  const { rows } = await warehouse.pool.query<{ status: string; settled: number | null; reserved: number }>(
    `select status, credits_settled::float8 as settled, credits_reserved::float8 as reserved from attempts where attempt_id = $1`,
    [call.attemptId],
  );
  const wrong = await warehouse.pool.query(
    `select b.budget_id from budgets b join attempts a on b.budget_id = any(a.budget_ids)
     group by b.budget_id, b.settled, b.reserved
     having b.settled <> coalesce(sum(a.credits_settled), 0)
       or b.reserved <> coalesce(sum(a.credits_reserved) filter (where a.credits_settled is null), 0)`,
  );
  expect(wrong.rows).toEqual([]);
  return rows[0]!;
}

async function deliveries(call: Call): Promise<string[]> {
  const { rows } = await warehouse.pool.query<{ status: string }>(
    'select status from webhook_deliveries where attempt_id = $1 order by received_at',
    [call.attemptId],
  );
  return rows.map((row) => row.status);
}

describe('the results of a request in several bodies', () => {
  it('are waited for until everybody who was found is named', async () => {
    const call = await callInTheAir();
    await answer(call);
    const [first, ...others] = call.ids;
    await deliver(call, body([first!], 8, { total_requested_enrichments: 3 }));
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
    await deliver(call, body(others, 16));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('are not complete by what a poll returns of them', async () => {
    const call = await callInTheAir();
    await answer(call);
    await storePolled(warehouse, call.attemptId, body([call.ids[0]!], 8));
    await drain(call);
    expect(await books(call)).toMatchObject({ status: 'awaiting' });
  });

  it('are billed once where a body repeats what was in another', async () => {
    const call = await callInTheAir();
    await answer(call);
    await deliver(call, body([call.ids[0]!], 8));
    await deliver(call, body(call.ids.slice(0, 2), 16));
    await storePolled(warehouse, call.attemptId, body(call.ids, 24));
    await drain(call);
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('are billed once where they come again in other words', async () => {
    const call = await callInTheAir();
    await answer(call);
    await deliver(call, body(call.ids, 24));
    await deliver(call, Buffer.from(` ${body(call.ids, 24).toString()}`));
    expect(await books(call)).toMatchObject({ settled: 27 });
    expect(await deliveries(call)).toEqual(['applied', 'applied']);
  });

  it('are complete where the others are said to be missing', async () => {
    const call = await callInTheAir();
    await answer(call);
    await deliver(call, body([call.ids[0]!], 8, { missing_records: 2 }));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 11 });
  });
});

describe('an answer that lists fewer people than it billed', () => {
  it('awaits and holds the phones of all of them', async () => {
    const call = await callInTheAir();
    await answer(call, [0, 0, 0], 3);
    expect(await books(call)).toEqual({ status: 'awaiting', settled: null, reserved: 27 });
  });
});

describe('a delivery', () => {
  it('that came while the answer seemed lost is looked at again when it is recorded after all', async () => {
    const call = await callInTheAir();
    await markUnknown(warehouse, call.attemptId, 'no answer in time');
    await deliver(call, body(call.ids, 24));
    expect(await deliveries(call)).toEqual(['orphaned']);
    await answer(call);
    await drain(call);
    expect(await deliveries(call)).toEqual(['applied']);
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('with a price beyond all reason stands in nobody’s way, and leaves the credits held', async () => {
    const call = await callInTheAir();
    await answer(call);
    await deliver(call, body(call.ids, '99999999999999'));
    expect(await books(call)).toEqual({ status: 'unknown', settled: null, reserved: 27 });
    const other = await callInTheAir();
    await answer(other);
    await deliver(other, body(other.ids, 24));
    expect(await books(other)).toMatchObject({ status: 'settled', settled: 27 });
  });

  it('after the operator has released its attempt is settled on top of what the answer cost', async () => {
    const call = await callInTheAir();
    await answer(call);
    await decideAttempt(warehouse, call.attemptId, '0');
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 3 });
    await deliver(call, body(call.ids, 24));
    expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  });
});

it('deliveries of one request that are applied at once by several drains take effect once', async () => {
  const call = await callInTheAir();
  await answer(call);
  const stored = Array.from({ length: 20 }, (_, index) =>
    storeDelivery(warehouse, {
      tokenHash: createHash('sha256').update(call.token).digest(),
      body: Buffer.from(`${' '.repeat(index % 4)}${body(call.ids, 24).toString()}`),
      contentEncoding: undefined,
    }),
  );
  await Promise.all(stored);
  await Promise.all(Array.from({ length: 5 }, () => drain(call)));
  expect(await books(call)).toMatchObject({ status: 'settled', settled: 27 });
  expect((await deliveries(call)).filter((status) => status === 'applied')).toHaveLength(4);
});
