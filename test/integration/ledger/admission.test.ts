import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import type { RateLimit } from '../../../src/domain/rates/rate-limit.ts';
import { openAdmissions, type Admission, type AdmissionRequest } from '../../../src/ledger/admit.ts';
import { applyBudgetLimits } from '../../../src/ledger/credit-ledger.ts';
import type { ReportedWindow } from '../../../src/domain/rates/rate-limit.ts';
import { readDatabaseTime, recordReports } from '../../../src/ledger/rate-reports.ts';
import {
  bulkMatchScope,
  endCall,
  freeSlots,
  abandonCall,
  pauseScope,
  releaseSlot,
  acquireSlot,
} from '../../../src/ledger/rate-windows.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { putOnList } from '../../helpers/warehouse/put-on-list.ts';
import { outcomesOf, runningRun } from '../../helpers/warehouse/rows.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';
import { admit } from '../../helpers/warehouse/admit.ts';

const bulkCalls = { service: 'test', scope: bulkMatchScope };

const warehouse = await warehouseOfFile({ connections: 20, connectMilliseconds: 60_000 });

const rowsAskedFor = new Map<string, number>();

/** Asks for the next people of a run. */
async function ask(
  runId: string,
  options: {
    people?: number;
    rateLimits?: RateLimit[];
    deadlineSeconds?: number;
    from?: number;
    perDay?: number;
    service?: string;
  } = {},
): Promise<Admission> {
  const people = options.people ?? 10;
  const from = options.from ?? rowsAskedFor.get(runId) ?? 1;
  rowsAskedFor.set(runId, from + people);
  return admit(
    warehouse.database,
    { ...requestFor(runId, from, people), deadlineSeconds: options.deadlineSeconds ?? 30 },
    {
      service: options.service ?? bulkCalls.service,
      rateLimits: options.rateLimits ?? [],
      budgets: {
        day: options.perDay === undefined ? undefined : wholeCredits(options.perDay),
      },
    },
  );
}

function requestFor(runId: string, from: number, people = 10): AdmissionRequest {
  return {
    runId,
    batch: 1,
    priority: 'ad-hoc',
    rowNumbers: Array.from({ length: people }, (_, index) => from + index),
    creditsPerPerson: wholeCredits(1),
    deadlineSeconds: 30,
    lateResults: false,
  };
}

/** Plans the first people of a run: ten are a batch. */
async function planPeople(runId: string, people: number): Promise<void> {
  await warehouse.pool.query(
    'insert into run_people (run_id, position, row_number) select $1, n - 1, n from generate_series(1, $2::integer) n',
    [runId, people],
  );
}

async function budgetOf(runId: string): Promise<{ reserved: string; settled: string }> {
  return warehouse.database
    .selectFrom('budgets')
    .select(['reserved', 'settled'])
    .where('budget_id', '=', `run:${runId}`)
    .executeTakeFirstOrThrow();
}

/** Makes the windows forget every call, as if they had ended long ago. */
async function emptyWindows(): Promise<void> {
  await warehouse.pool.query('delete from rate_calls; delete from rate_scopes; delete from rate_reports');
}

beforeEach(emptyWindows);

/** Admits a call, without a limit of our own. */
async function begin(runId: string): Promise<string> {
  const admission = await ask(runId);
  if (admission.kind !== 'admitted') throw new Error(JSON.stringify(admission));
  return admission.attemptId;
}

async function connectionsThatWait(): Promise<number> {
  const waiting = await warehouse.pool.query(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return waiting.rows.length;
}

describe('people', () => {
  it('admit() leaves out people whom an abandoned worker is asking for', async () => {
    const runId = await runningRun(warehouse);
    const both = await Promise.all([ask(runId, { from: 1 }), ask(runId, { from: 5 })]);
    expect(both.map((admission) => admission.kind).sort()).toEqual(['admitted', 'taken']);
  });

  it('admit() leaves out people who have an outcome', async () => {
    const runId = await runningRun(warehouse);
    await warehouse.pool.query(
      `update run_rows set outcome = 'enriched' where run_id = $1 and row_number = 3`,
      [runId],
    );
    expect(await ask(runId)).toEqual({ kind: 'taken' });
  });
});

describe('a limit of the day', () => {
  it('a day limit of one process is neither removed nor raised by a process without one', async () => {
    const strict = { day: wholeCredits(0) };
    const runId = await runningRun(warehouse);
    const before = await warehouse.pool.query(
      `select budget_id, credits_limit from budgets where budget_id like 'day:%'`,
    );
    await applyBudgetLimits(warehouse.database, strict);
    await applyBudgetLimits(warehouse.database, {});
    expect(await ask(runId)).toMatchObject({ kind: 'over_budget', budget: expect.stringMatching(/^day:/) });
    await warehouse.pool.query(`update budgets set credits_limit = $1 where budget_id like 'day:%'`, [
      before.rows[0]?.credits_limit ?? null,
    ]);
  });

  it('a day limit holds for the process that has it, whatever limit is stored', async () => {
    const runId = await runningRun(warehouse);
    expect(await ask(runId, { perDay: 0 })).toMatchObject({ kind: 'over_budget' });
  });
});

describe('credits', () => {
  it('concurrent admissions never reserve beyond a budget, and use all credits that fit', async () => {
    const runId = await runningRun(warehouse, '1000');
    const admissions = await Promise.all(Array.from({ length: 400 }, () => ask(runId)));

    expect(admissions.filter((admission) => admission.kind === 'admitted')).toHaveLength(100);
    expect(admissions.filter((admission) => admission.kind === 'over_budget')).toHaveLength(300);
    expect(Number((await budgetOf(runId)).reserved)).toBe(1000);
  });

  it('admit() sends 7 people if the budget holds 7 and not 10', async () => {
    const runId = await runningRun(warehouse, '7');
    expect(await ask(runId)).toMatchObject({ kind: 'admitted', rowNumbers: [1, 2, 3, 4, 5, 6, 7] });
  });

  it('admit() reports that credits may be released while calls in flight hold them', async () => {
    const runId = await runningRun(warehouse, '10');
    await ask(runId);
    expect(await ask(runId)).toMatchObject({
      kind: 'over_budget',
      budget: `run:${runId}`,
      mayFreeCredits: true,
    });
  });

  it('admit() takes no slot for a call that the budget refuses', async () => {
    const runId = await runningRun(warehouse, '0');
    await ask(runId);
    const calls = await warehouse.pool.query('select count(*)::int as calls from rate_calls');
    expect(calls.rows[0]).toEqual({ calls: 0 });
  });
});

describe('rate windows', () => {
  const three: RateLimit[] = [{ calls: 3, seconds: 10 }];

  it('concurrent admissions never exceed a rate window', async () => {
    const runId = await runningRun(warehouse);
    const admissions = await Promise.all(Array.from({ length: 30 }, () => ask(runId, { rateLimits: three })));
    expect(admissions.filter((admission) => admission.kind === 'admitted')).toHaveLength(3);
  });

  it('a rate window counts a call until one window after its answer', async () => {
    const runId = await runningRun(warehouse);
    const admitted = await Promise.all([1, 2, 3].map(() => ask(runId, { rateLimits: three })));
    // Admitted 9.5 s ago, answered just now: the service may have counted them this very moment.
    await warehouse.pool.query(`update rate_calls set started_at = started_at - interval '9.5 seconds'`);
    for (const admission of admitted) {
      if (admission.kind === 'admitted')
        await endCall(warehouse.database, bulkCalls, admission.attemptId, true);
    }
    const next = await ask(runId, { rateLimits: three });
    expect(next).toMatchObject({ kind: 'wait', reason: 'the rate window of 3/10s is full' });
    expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(9_500);
  });

  it('a rate window releases the slot of a dead process at the deadline of its call and one window', async () => {
    const runId = await runningRun(warehouse);
    await Promise.all([1, 2, 3].map(() => ask(runId, { rateLimits: three })));
    await warehouse.pool.query(
      `update rate_calls set counted_until = clock_timestamp() - interval '10.1 seconds'`,
    );
    expect(await ask(runId, { rateLimits: three })).toMatchObject({ kind: 'admitted' });
  });

  it('admit() reports exactly when the next slot is free', async () => {
    const runId = await runningRun(warehouse);
    await Promise.all([1, 2, 3].map(() => ask(runId, { rateLimits: three })));
    const before = performance.now();
    await warehouse.pool.query(
      `update rate_calls set counted_until = clock_timestamp() - interval '6 seconds'`,
    );
    const next = await ask(runId, { rateLimits: three });
    const elapsed = performance.now() - before;
    expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThanOrEqual(Math.floor(4_000 - elapsed));
    expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(4_000);
  });

  it('admit() obeys each of several rate windows', async () => {
    const runId = await runningRun(warehouse);
    const both: RateLimit[] = [
      { calls: 2, seconds: 1 },
      { calls: 3, seconds: 3600 },
    ];
    await Promise.all([1, 2].map(() => ask(runId, { rateLimits: both })));
    expect(await ask(runId, { rateLimits: both })).toMatchObject({
      reason: 'the rate window of 2/second is full',
    });
    await warehouse.pool.query(
      `update rate_calls set counted_until = clock_timestamp() - interval '2 seconds'`,
    );
    expect(await ask(runId, { rateLimits: both })).toMatchObject({ kind: 'admitted' });
    await warehouse.pool.query(
      `update rate_calls set counted_until = clock_timestamp() - interval '2 seconds'`,
    );
    expect(await ask(runId, { rateLimits: both })).toMatchObject({
      reason: 'the rate window of 3/hour is full',
    });
  });

  it('a rate window keeps the slot of an abandoned call until the call can no longer arrive', async () => {
    const runId = await runningRun(warehouse);
    const rateLimits = [{ calls: 1, seconds: 1 }];
    const call = await ask(runId, { rateLimits, deadlineSeconds: 2 });
    if (call.kind !== 'admitted') throw new Error(call.kind);
    await abandonCall(warehouse.database, call.attemptId, 30);
    const { wait } = await freeSlots(warehouse.database, bulkCalls, rateLimits);
    const slots = await warehouse.pool.query<{ seconds: number }>(
      'select extract(epoch from counted_until - clock_timestamp())::float8 as seconds from rate_calls',
    );
    expect(wait).toBeDefined();
    expect(slots.rows[0]!.seconds).toBeGreaterThan(25);
  });

  it('a rate window forgets calls that have left every window while others are admitted', async () => {
    const runId = await runningRun(warehouse);
    await warehouse.pool.query(`
      insert into rate_calls (call_id, scope, counted_until)
      select 'old-' || age, '${bulkMatchScope}', clock_timestamp() - make_interval(hours => age)
      from generate_series(23, 49) as age`);
    const remaining = async (): Promise<string[]> => {
      expect(await ask(runId)).toMatchObject({ kind: 'admitted' });
      const { rows } = await warehouse.pool.query<{ call_id: string }>(
        `select call_id from rate_calls where call_id like 'old-%' order by counted_until limit 1`,
      );
      return rows.map((row) => row.call_id);
    };
    expect(await remaining()).toEqual(['old-47']);
    expect(await remaining()).toEqual(['old-45']);
    for (let calls = 0; calls < 20; calls += 1) await ask(runId);
    expect(await remaining()).toEqual(['old-23']);
  });

  it('a rate window of a week counts the calls that a process with shorter windows has admitted', async () => {
    const runId = await runningRun(warehouse);
    const perWeek = [{ calls: 4, seconds: 7 * 86_400 }];
    const perHour = [{ calls: 600, seconds: 3_600 }];
    await ask(runId, { rateLimits: perWeek });
    await ask(runId, { rateLimits: perWeek });
    await warehouse.pool.query(`update rate_calls set counted_until = now() - interval '2 days'`);
    await ask(runId, { rateLimits: perHour });
    await ask(runId, { rateLimits: perHour });
    expect(await freeSlots(warehouse.database, bulkCalls, perWeek)).toMatchObject({ slots: 0 });
  });

  it('a rate window releases the slot of a call that was never sent at once', async () => {
    const runId = await runningRun(warehouse);
    const one: RateLimit[] = [{ calls: 1, seconds: 60 }];
    const admission = await ask(runId, { rateLimits: one });
    if (admission.kind === 'admitted') await releaseSlot(warehouse.database, admission.attemptId);
    expect(await ask(runId, { rateLimits: one })).toMatchObject({ kind: 'admitted' });
  });
});

describe('what the service says of its windows', () => {
  const hour = (left: number | null, limit: number | null = 600): ReportedWindow => ({
    seconds: 3_600,
    limit,
    used: undefined,
    left,
  });

  /** Stores usage statistics that are asked for now. */
  async function statistics(window: ReportedWindow): Promise<void> {
    const beganAt = await readDatabaseTime(warehouse.database);
    await recordReports(warehouse.database, bulkCalls, { beganAt }, { rateLimits: [window] });
  }

  function end(attemptId: string, ...rateLimits: ReportedWindow[]): Promise<void> {
    return endCall(warehouse.database, bulkCalls, attemptId, true, { rateLimits });
  }

  async function free(rateLimits: RateLimit[] = []): Promise<number> {
    return (await freeSlots(warehouse.database, bulkCalls, rateLimits)).slots;
  }

  it('a rate report is used if it leaves fewer calls than our own count', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), hour(2));
    expect(await free([{ calls: 600, seconds: 3_600 }])).toBe(2);
    const admissions = await Promise.all(Array.from({ length: 10 }, () => ask(runId)));
    expect(admissions.filter((admission) => admission.kind === 'admitted')).toHaveLength(2);
  });

  it('a rate report counts only for calls to its service', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), hour(0));
    const elsewhere = { ...bulkCalls, service: 'https://elsewhere.example/api/v1' };
    expect((await freeSlots(warehouse.database, elsewhere, [])).slots).toBe(Number.POSITIVE_INFINITY);
    expect(await ask(runId)).toMatchObject({ kind: 'wait' });
    const admitted = await ask(runId, { service: elsewhere.service });
    await endCall(warehouse.database, elsewhere, (admitted as { attemptId: string }).attemptId, true, {
      rateLimits: [hour(70)],
    });
    expect([await free(), (await freeSlots(warehouse.database, elsewhere, [])).slots]).toEqual([0, 70]);
  });

  it('a rate report is ignored if it leaves more calls than our own count', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), hour(599));
    expect(await free([{ calls: 3, seconds: 3_600 }])).toBe(2);
  });

  it('a rate report of a used-up window holds every call for the longest time of that window', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), { ...hour(0), seconds: 60 }, hour(40));
    const next = await ask(runId);
    expect(next).toMatchObject({ kind: 'wait', reason: expect.stringContaining('window of 1m') });
    expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(59_000);
    expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(60_000);
  });

  it('a rate report ends with its window, which then holds its limit again', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), hour(0, 20));
    await warehouse.pool.query(`update rate_reports set believed_until = clock_timestamp()`);
    expect(await free()).toBe(20);
    expect(await ask(runId)).toMatchObject({ kind: 'admitted' });
  });

  it('one call an hour asks whether a used-up window of a day has ended', async () => {
    const runId = await runningRun(warehouse);
    const day = (left: number): ReportedWindow => ({ seconds: 86_400, limit: 2_000, used: undefined, left });
    const anHourLater = () =>
      warehouse.pool.query(
        `update rate_reports
         set said_at = said_at - interval '61 minutes', believed_until = believed_until - interval '61 minutes'`,
      );
    const askTenTimes = async () =>
      (await Promise.all(Array.from({ length: 10 }, () => ask(runId)))).flatMap((admission) =>
        admission.kind === 'admitted' ? [admission.attemptId] : [],
      );
    await end(await begin(runId), day(0));
    const next = await ask(runId);
    expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(59 * 60_000);
    expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(60 * 60_000);

    await anHourLater();
    const asked = await askTenTimes();
    expect(asked).toHaveLength(1);
    await endCall(warehouse.database, bulkCalls, asked[0]!, false, { rateLimits: [day(0)] });
    expect(await askTenTimes()).toEqual([]);

    await anHourLater();
    await end((await askTenTimes())[0]!, day(1_999));
    expect(await free()).toBe(1_999);
  });

  it('a rate report does not include calls in flight, which the service may not have counted', async () => {
    const runId = await runningRun(warehouse);
    const calls = [await begin(runId), await begin(runId), await begin(runId)];
    await end(calls[0]!, hour(5));
    expect(await free()).toBe(3);
    await end(calls[1]!, hour(4));
    await end(calls[2]!, hour(3));
    expect(await free()).toBe(3);
  });

  it('a rate report does not grow by an older answer that arrives later', async () => {
    const runId = await runningRun(warehouse);
    const [first, second] = [await begin(runId), await begin(runId)];
    await end(second, hour(8));
    await end(first, hour(9));
    expect(await free()).toBe(8);
  });

  it('a rate report grows when a later call is counted in a new window', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), hour(8));
    await end(await begin(runId), hour(599));
    expect(await free()).toBe(599);
  });

  it('a rate report of an unlimited window limits nothing', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), hour(null, null));
    expect(await free()).toBe(Number.POSITIVE_INFINITY);
  });

  it('a rate report holds until the end that a refusal names', async () => {
    const runId = await runningRun(warehouse);
    const refused = await begin(runId);
    await endCall(warehouse.database, bulkCalls, refused, false, {
      rateLimits: [hour(0)],
      retryAfterSeconds: 30,
    });
    const next = await ask(runId);
    expect(next.kind === 'wait' && next.milliseconds).toBeLessThanOrEqual(30_000);
  });

  it('a rate report of a window that was not open yet ends with that window', async () => {
    const runId = await runningRun(warehouse);
    const unused = { ...hour(20, 20), seconds: 60 };
    await statistics(unused);
    await warehouse.pool.query(
      `update rate_reports set believed_until = believed_until - interval '55 seconds'`,
    );
    await end(await begin(runId), { ...unused, left: 0 });
    const next = await ask(runId);
    expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(55_000);
  });

  it('a rate report of usage statistics counts before the first call', async () => {
    await statistics({ seconds: 3_600, limit: 600, used: 593, left: undefined });
    expect(await free([{ calls: 600, seconds: 3_600 }])).toBe(7);
  });

  it('a rate report of used-up calls ends with usage statistics of a new window', async () => {
    await end(await begin(await runningRun(warehouse)), hour(0));
    await statistics(hour(599));
    expect(await free()).toBe(599);
    await statistics(hour(0));
    expect(await free()).toBe(0);
    await statistics(hour(600));
    expect(await free()).toBe(600);
  });

  it('a rate report does not grow by usage statistics that were asked for before it', async () => {
    const call = await begin(await runningRun(warehouse));
    const beganAt = await readDatabaseTime(warehouse.database);
    await end(call, hour(8));
    await recordReports(warehouse.database, bulkCalls, { beganAt }, { rateLimits: [hour(9)] });
    expect(await free()).toBe(8);
  });

  it('a rate report of a new window does not include calls in flight', async () => {
    const runId = await runningRun(warehouse);
    await end(await begin(runId), hour(2));
    await begin(runId);
    await statistics(hour(599));
    expect(await free()).toBe(598);
  });
});

describe('a refusal for rate (429)', () => {
  it.each([
    ['what the service asked for', 30, 30, 30],
    ['an hour at most', 10_000_000, 3_600, 3_600],
    ['two seconds at least', 0, 2, 2],
    ['two seconds without a word of the service', undefined, 2, 2],
  ])('a refusal for the rate (429) pauses every worker for %s', async (_, retryAfter, least, most) => {
    const seconds = await pauseScope(warehouse.database, bulkMatchScope, 'refused', retryAfter);
    expect(seconds).toBeGreaterThanOrEqual(least - 1);
    expect(seconds).toBeLessThanOrEqual(most);
    const runId = await runningRun(warehouse);
    expect(await ask(runId)).toMatchObject({
      kind: 'wait',
      reason: 'the service refused a call for its rate (429)',
    });
  });

  it('a refusal for the rate keeps its pause when a call in flight succeeds', async () => {
    const runId = await runningRun(warehouse);
    const earlier = await ask(runId);
    if (earlier.kind !== 'admitted') throw new Error(earlier.kind);
    await pauseScope(warehouse.database, bulkMatchScope, 'refused', 20);
    await endCall(warehouse.database, bulkCalls, earlier.attemptId, true);
    const next = await ask(runId);
    expect(next).toMatchObject({ kind: 'wait', reason: 'the service refused a call for its rate (429)' });
    expect(next.kind === 'wait' && next.milliseconds).toBeGreaterThan(15_000);
  });

  it('a refusal for the rate keeps its pause when a call admitted before its recording succeeds', async () => {
    const runId = await runningRun(warehouse);
    await ask(runId, { people: 1 });
    let pausing: Promise<number> | undefined;
    const admitted = await warehouse.database.transaction().execute(async (transaction) => {
      await sql`select 1 from rate_scopes where scope = ${bulkMatchScope} for update`.execute(transaction);
      pausing = pauseScope(warehouse.database, bulkMatchScope, 'refused', 20);
      await expect.poll(connectionsThatWait).toBe(1);
      const call = { ...bulkCalls, callId: 'slipped in', deadlineSeconds: 30 };
      return acquireSlot(transaction, call, []);
    });
    expect(admitted).toEqual({ kind: 'acquired' });
    await pausing;
    await endCall(warehouse.database, bulkCalls, 'slipped in', true);
    const next = await ask(runId);
    expect(next).toMatchObject({ kind: 'wait', reason: 'the service refused a call for its rate (429)' });
  });

  it('simultaneous refusals for the rate pause once', async () => {
    const runId = await runningRun(warehouse);
    const calls = await Promise.all([1, 2, 3, 4].map(() => ask(runId)));
    for (const call of calls) {
      if (call.kind !== 'admitted') throw new Error(call.kind);
      expect(await pauseScope(warehouse.database, bulkMatchScope, call.attemptId, undefined)).toBe(2);
      await endCall(warehouse.database, bulkCalls, call.attemptId, false);
    }
  });

  it('refusals for the rate in a row pause longer each time, within bounds', async () => {
    const pauses: number[] = [];
    for (let refusal = 1; refusal <= 9; refusal += 1) {
      pauses.push(await pauseScope(warehouse.database, bulkMatchScope, `refusal ${refusal}`, 1));
      await warehouse.pool.query('update rate_scopes set paused_until = null');
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 128, 128]);
  });

  it('a refusal for the rate is followed by one probing call', async () => {
    const runId = await runningRun(warehouse);
    await refuseAndResume();
    const admissions = await Promise.all(Array.from({ length: 10 }, () => ask(runId)));
    const admitted = admissions.filter((admission) => admission.kind === 'admitted');
    expect(admitted).toHaveLength(1);

    await endCall(warehouse.database, bulkCalls, admitted[0]!.attemptId, true);
    const afterwards = await Promise.all(Array.from({ length: 10 }, () => ask(runId)));
    expect(afterwards.filter((admission) => admission.kind === 'admitted')).toHaveLength(10);
  });

  it('a probing call is sent while a call from before the refusal is in flight', async () => {
    const runId = await runningRun(warehouse);
    await begin(runId);
    await refuseAndResume();
    const admissions = [await ask(runId), await ask(runId)];
    expect(admissions.map(({ kind }) => kind)).toEqual(['admitted', 'wait']);
  });

  it('a probing call whose answer is lost is followed by the next probing call at once', async () => {
    const runId = await runningRun(warehouse);
    await refuseAndResume();
    await abandonCall(warehouse.database, await begin(runId), 60);
    expect(await ask(runId)).toMatchObject({ kind: 'admitted' });
  });

  /** A refusal whose pause is over. */
  async function refuseAndResume(): Promise<void> {
    await pauseScope(warehouse.database, bulkMatchScope, 'refused', undefined);
    await warehouse.pool.query(
      `update rate_scopes set paused_until = clock_timestamp() - interval '1 second'`,
    );
  }
});

describe('calls of one process that ask together', () => {
  /** Admits calls for people from these rows on. The first call is admitted alone, the others wait for it. */
  function askTogether(
    requests: readonly AdmissionRequest[],
    rateLimits: readonly RateLimit[] = [],
  ): Promise<Admission[]> {
    const admitTogether = openAdmissions(warehouse.database, { service: 'test', rateLimits, budgets: {} });
    return Promise.all(requests.map(admitTogether));
  }

  async function transactionsOf(runId: string): Promise<number> {
    const { rows } = await warehouse.pool.query<{ count: number }>(
      'select count(distinct xmin::text)::int as count from attempts where run_id = $1',
      [runId],
    );
    return rows[0]!.count;
  }

  const kindsOf = (admissions: readonly Admission[]): string[] => admissions.map(({ kind }) => kind);

  it('calls that wait for an admission are admitted in one transaction, in their order', async () => {
    const runId = await runningRun(warehouse);
    const requests = [1, 11, 21, 31, 41].map((from) => requestFor(runId, from));
    const admissions = await askTogether(requests, [{ calls: 4, seconds: 60 }]);
    expect(kindsOf(admissions)).toEqual([...Array(4).fill('admitted'), 'wait']);
    expect(admissions[4]).toMatchObject({ reason: 'the rate window of 4/minute is full' });
    expect(await transactionsOf(runId)).toBe(2);
    const { rows } = await warehouse.pool.query(
      `select array_agg(p.row_number order by p.detail_index) as rows from attempt_people p join attempts a using
       (attempt_id) where a.run_id = $1 group by a.attempt_id order by 1`,
      [runId],
    );
    expect(rows.map((row) => row.rows)).toEqual(requests.slice(0, 4).map(({ rowNumbers }) => rowNumbers));
  });

  it('calls that ask together reserve what the budget can pay, the last for fewer people', async () => {
    const runId = await runningRun(warehouse, '25');
    const admissions = await askTogether([1, 11, 21, 31].map((from) => requestFor(runId, from)));
    expect(kindsOf(admissions)).toEqual(['admitted', 'admitted', 'admitted', 'over_budget']);
    expect(admissions[2]).toMatchObject({ rowNumbers: [21, 22, 23, 24, 25] });
    expect(admissions[3]).toMatchObject({ budget: `run:${runId}`, mayFreeCredits: true });
    expect(Number((await budgetOf(runId)).reserved)).toBe(25);
  });

  it('credits that cannot pay for everybody go to the people of a page in their order', async () => {
    const runId = await runningRun(warehouse, '23');
    await planPeople(runId, 100);
    const asks = (batch: number) => ({ ...requestFor(runId, 10 * batch - 9), batch });
    const [fifth] = await askTogether([asks(5)]);
    expect(fifth).toMatchObject({ kind: 'wait', reason: expect.stringContaining('people before these') });
    const admissions = await askTogether([asks(1), asks(3), asks(2), asks(5)]);
    expect(kindsOf(admissions)).toEqual(['admitted', 'admitted', 'admitted', 'wait']);
    expect(admissions[1]).toMatchObject({ rowNumbers: [21, 22, 23] });
    expect(kindsOf(await askTogether([asks(5)]))).toEqual(['over_budget']);
  });

  it('a call whose answer is being recorded may still free credits, though its slot has ended', async () => {
    const runId = await runningRun(warehouse, '10');
    const [first] = await askTogether([requestFor(runId, 1)]);
    const { attemptId } = first as Extract<Admission, { kind: 'admitted' }>;
    await endCall(warehouse.database, bulkCalls, attemptId, true);
    expect(await askTogether([requestFor(runId, 11)])).toMatchObject([
      { kind: 'over_budget', mayFreeCredits: true },
    ]);
  });

  it('credits that can pay for a whole page do not order its calls', async () => {
    const runId = await runningRun(warehouse, '50');
    await planPeople(runId, 50);
    const [fifth] = await askTogether([{ ...requestFor(runId, 41), batch: 5 }]);
    expect(fifth).toMatchObject({ kind: 'admitted' });
  });

  it('a call without credits leaves its slot to no other call of its run', async () => {
    const runId = await runningRun(warehouse, '10');
    const requests = [1, 11, 21].map((from) => requestFor(runId, from));
    const admissions = await askTogether(requests, [{ calls: 2, seconds: 60 }]);
    expect(kindsOf(admissions)).toEqual(['admitted', 'over_budget', 'over_budget']);
  });

  it('calls that find a slot freed during their admission ask again, and the admitted calls are sent', async () => {
    const runId = await runningRun(warehouse);
    const requests = [1, 11, 21, 31].map((from) => requestFor(runId, from));
    // Counts one slot fewer than are free afterwards, as when a call leaves the window in between.
    const count = "select pg_get_functiondef('slots_together'::regproc) as definition";
    const { definition } = (await warehouse.pool.query<{ definition: string }>(count)).rows[0]!;
    const header = definition.slice(0, definition.indexOf('LANGUAGE'));
    await warehouse.pool.query(`${header} language sql as 'select 1'`);
    const admissions = await askTogether(requests, [{ calls: 3, seconds: 60 }]);
    await warehouse.pool.query(definition);
    expect(kindsOf(admissions)).toEqual(['admitted', 'admitted', 'wait', 'wait']);
    expect(admissions[2]).toMatchObject({ milliseconds: 1 });
    expect(await transactionsOf(runId)).toBe(2);
  });

  it('calls that ask together for the same people are admitted once', async () => {
    const runId = await runningRun(warehouse);
    const admissions = await askTogether([1, 11, 15, 1, 30].map((from) => requestFor(runId, from)));
    expect(kindsOf(admissions)).toEqual(['admitted', 'admitted', 'taken', 'taken', 'admitted']);
  });

  it('calls of two runs that ask together are decided by the state of their runs', async () => {
    const [running, paused] = [await runningRun(warehouse), await runningRun(warehouse)];
    await setRunStatus(warehouse, paused, 'paused', undefined);
    const runs = [running, paused, running, paused];
    const admissions = await askTogether(runs.map((runId, index) => requestFor(runId, index * 10 + 1)));
    expect(kindsOf(admissions)).toEqual(['admitted', 'not_running', 'admitted', 'not_running']);
    expect(await transactionsOf(running)).toBe(2);
  });
});

it('admit() refuses calls of a paused run', async () => {
  const runId = await runningRun(warehouse);
  await setRunStatus(warehouse, runId, 'paused', undefined);
  expect(await ask(runId)).toEqual({ kind: 'not_running', status: 'paused' });
});

describe('admit() and the suppression list', () => {
  it('admit() drops a person who was suppressed since the batch was read, and admits the others', async () => {
    const rows = ['ada', 'bo'].map((name) => ({
      keys: [`email:${name}@admission.example`],
      email: `${name}@admission.example`,
      firstName: name,
    }));
    const runId = await runningRunOf(warehouse, rows);
    await putOnList(warehouse, 'email:bo@admission.example');
    expect(await ask(runId, { people: 2, from: 1 })).toEqual({ kind: 'taken' });
    expect(await outcomesOf(warehouse, runId)).toEqual([null, 'suppressed']);
    expect(await ask(runId, { people: 1, from: 1 })).toMatchObject({ kind: 'admitted', rowNumbers: [1] });
    const attempts = await warehouse.pool.query('select people from attempts where run_id = $1', [runId]);
    expect(attempts.rows).toEqual([{ people: 1 }]);
    const kept = await warehouse.pool.query(
      'select email, first_name from run_rows where run_id = $1 and row_number = 2',
      [runId],
    );
    expect(kept.rows).toEqual([{ email: null, first_name: null }]);
    const admitTogether = openAdmissions(warehouse.database, {
      service: 'test',
      rateLimits: [],
      budgets: {},
    });
    const again = await Promise.all([1, 2].map((from) => admitTogether(requestFor(runId, from, 1))));
    expect(again).toEqual([{ kind: 'taken' }, { kind: 'taken' }]);
  });
});
