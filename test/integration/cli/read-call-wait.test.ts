import { beforeEach, expect, it } from 'vitest';
import { describeWait } from '../../../src/cli/run/run-status.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import type { RunFacts } from '../../../src/contract/run-facts.ts';
import { bulkMatchScope } from '../../../src/ledger/rate-windows.ts';
import { planRun } from '../../../src/runs/planning/plan-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answeredCall, callWithPhones } from '../../helpers/warehouse/late-calls.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

beforeEach(() => warehouse.query`truncate rate_calls, rate_reports, rate_scopes`);

/** Calls that the service counted a number of minutes ago. */
async function callsMade(count: number, minutesAgo: number): Promise<void> {
  await warehouse.query`
    insert into rate_calls (call_id, scope, started_at, counted_until)
    select concat_ws('-', 'call', ${minutesAgo}::int, n), ${bulkMatchScope}, at, at
    from generate_series(1, ${count}) n,
      (select clock_timestamp() - make_interval(mins => ${minutesAgo}) as at) as past`;
}

function session(): Session {
  return { warehouse, config: { service: { baseUrl: 'test' } } } as unknown as Session;
}

it('describeWait() names the full rate window that delays the next call, and is empty if none is full', async () => {
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

it('describeWait() says until when late results are awaited if no call is in flight', async () => {
  const [inFlight, answered] = [await callWithPhones(warehouse), await answeredCall(warehouse)];
  await warehouse.query`update runs set plan = '{"people": 5, "own_rate_limits": "20/hour"}' where plan is null`;
  const said = ({ runId }: { runId: string }): Promise<string[]> =>
    describeWait(session(), { run_id: runId, status: 'running' } as RunFacts);
  expect(await said(inFlight)).toEqual([]);
  expect(await said(answered)).toEqual([
    expect.stringMatching(/^ {2}late results of 1 call are awaited until /),
  ]);
});
