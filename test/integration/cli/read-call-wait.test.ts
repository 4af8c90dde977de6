import { beforeEach, expect, it } from 'vitest';
import { describeWait, readRunWait } from '../../../src/cli/run/run-status.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import type { RunFacts } from '../../../src/contract/run-facts.ts';
import type { ReportedWindow } from '../../../src/domain/rates/rate-limit.ts';
import { readDatabaseTime, recordReports } from '../../../src/ledger/rate-reports.ts';
import { bulkMatchScope } from '../../../src/ledger/rate-windows.ts';
import { planRun } from '../../../src/runs/planning/plan-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answeredCall, callWithPhones } from '../../helpers/warehouse/late-calls.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const bulkCalls = { service: 'test', scope: bulkMatchScope };

const warehouse = await warehouseOfFile();

beforeEach(() => warehouse.pool.query('truncate rate_calls, rate_reports, rate_scopes'));

async function report(seconds: number, left: number, limit: number): Promise<void> {
  const window: ReportedWindow = { seconds, limit, left, used: undefined };
  const beganAt = await readDatabaseTime(warehouse.database);
  await recordReports(warehouse.database, bulkCalls, { beganAt }, { rateLimits: [window] });
}

/** Calls that the service counted a number of minutes ago. */
async function callsMade(count: number, minutesAgo: number): Promise<void> {
  await warehouse.pool.query(
    `insert into rate_calls (call_id, scope, started_at, counted_until)
     select 'call-' || $1 || '-' || n, $2, at, at
     from generate_series(1, $3) n, (select clock_timestamp() - make_interval(mins => $1) as at) as past`,
    [minutesAgo, bulkMatchScope, count],
  );
}

function session(): Session {
  return { warehouse, config: { service: { baseUrl: 'test' } } } as unknown as Session;
}

/** The wait that the progress line shows for a run of 300 people, planned by a worker with RATE_LIMITS=20/hour. */
async function waitOfRun(): Promise<{ waiting: string | undefined; etaMinutes: number | null }> {
  const { runId } = await stagedRun(warehouse, []);
  const rateLimits = [{ calls: 20, seconds: 3_600 }];
  await planRun({ warehouse, service: 'test', rateLimits, budgets: {}, callConcurrency: 1 }, runId);
  const run = await getRun(warehouse, runId);
  const running = { ...run, status: 'running', plan: { ...run.plan!, people: 300 } } as const;
  const { reason, etaSeconds } = await readRunWait(session(), running, { people: 0, inFlight: 0 });
  return { waiting: reason, etaMinutes: typeof etaSeconds === 'number' ? Math.round(etaSeconds / 60) : null };
}

it('the progress line names the used-up day of the service, and waits until one call asks about it', async () => {
  await callsMade(40, 120);
  await report(86_400, 0, 40);
  expect(await waitOfRun()).toEqual({
    waiting: expect.stringMatching(
      /^waiting (1h 0m|59m \d+s|60m 0s): the service has no calls left in its window of 1d/,
    ),
    etaMinutes: null,
  });
});

it('the progress line names the window of RATE_LIMITS that is full, whatever windows the service reports', async () => {
  await callsMade(20, 15);
  await report(86_400, 1_000, 1_020);
  expect(await waitOfRun()).toEqual({
    waiting: expect.stringMatching(/^waiting 4[45]m( \d+s)?: the rate window of 20\/hour is full$/),
    // 30 calls: 20 after the wait, 10 an hour later.
    etaMinutes: 105,
  });
});

it('the progress line counts the full window of the service in its ETA', async () => {
  await report(3_600, 0, 10);
  expect(await waitOfRun()).toEqual({
    waiting: expect.stringContaining('the service has no calls left in its window of 1h'),
    // 30 calls: 10 after the wait of an hour, and 10 in each of two more hours.
    etaMinutes: 180,
  });
});

it('the status of a run says why it makes no call now, and says nothing of a run that can call', async () => {
  const { runId } = await stagedRun(warehouse, [{ keys: ['one'], email: 'one@orbit.example' }]);
  const rateLimits = [{ calls: 20, seconds: 3_600 }];
  await planRun({ warehouse, service: 'test', rateLimits, budgets: {}, callConcurrency: 1 }, runId);
  await warehouse.query`update runs set status = 'running' where run_id = ${runId}`;
  const said = (): Promise<string[]> =>
    describeWait(session(), { run_id: runId, status: 'running' } as RunFacts);
  expect(await said()).toEqual([]);
  await callsMade(20, 15);
  expect(await said()).toEqual([
    expect.stringMatching(/^ {2}waiting 4[45]m.*: the rate window of 20\/hour is full$/),
  ]);
});

it('the status of a run with people left and no call in flight says that it awaits late results', async () => {
  const [inFlight, answered] = [await callWithPhones(warehouse), await answeredCall(warehouse)];
  await warehouse.query`update runs set plan = '{"people": 5, "ownRateLimits": "20/hour"}' where plan is null`;
  const said = ({ runId }: { runId: string }): Promise<string[]> =>
    describeWait(session(), { run_id: runId, status: 'running' } as RunFacts);
  expect(await said(inFlight)).toEqual([]);
  expect(await said(answered)).toEqual([
    expect.stringMatching(/^ {2}late results of 1 call are awaited until /),
  ]);
});
