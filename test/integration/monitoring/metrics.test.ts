import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { observeCalls } from '../../../src/worker.ts';
import { readWarehouseMetrics } from '../../../src/monitoring/warehouse-metrics.ts';
import { failureKinds, ServiceFailure } from '../../../src/service/failures/failure.ts';
import { applyBudgetLimits } from '../../../src/ledger/credit-ledger.ts';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { openWarehouse } from '../../../src/db/database.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { parseCredits } from '../../../src/domain/money/decimal.ts';
import { createTestDatabase, openTestWarehouse } from '../../helpers/database/database.ts';
import { testWarehouse } from '../../helpers/database/test-warehouse.ts';
import { freePort, listenHere } from '../../helpers/servers/ports.ts';
import { answeredCall } from '../../helpers/warehouse/late-calls.ts';
import { openMetricsFixture, seriesValue } from '../../helpers/outputs/metrics-fixture.ts';
import { runningRun, stagedRun } from '../../helpers/warehouse/rows.ts';
import { admit } from '../../helpers/warehouse/admit.ts';

const noBudgets = {};
const endpoint = { name: 'POST /people/bulk_match', paid: true };

it('the metrics show budgets, open calls, rate windows, the inbox, runs and failed schedules', async () => {
  const databaseUrl = await createTestDatabase();
  const warehouse = testWarehouse(openWarehouse(databaseUrl, { connections: 2 }));
  onTestFinished(() => warehouse.close());
  const runId = await runningRun(warehouse, '500');
  const rateLimits = [{ calls: 20, seconds: 3_600 }];
  const asked = { runId, rowNumbers: [1, 2, 3], deadlineSeconds: 60, lateResults: true };
  const admission = await admit(warehouse.database, asked, { rateLimits, budgets: noBudgets });
  if (admission.kind !== 'admitted') throw new Error('not admitted');
  await markAttemptUnknown(warehouse, admission.attemptId, 'by a test');
  await warehouse.query`
      insert into webhook_deliveries (delivery_id, attempt_id, run_id, body, body_sha256, received_at, status)
      values ('d1', ${admission.attemptId}, ${runId}, '', '', now() - interval '90 seconds', 'received'),
        ('d2', ${admission.attemptId}, ${runId}, '', '', now(), 'quarantined')`;
  await warehouse.query`update runs set plan = '{"people": 10}' where run_id = ${runId}`;
  const paused = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, paused.runId, 'paused', {
    type: 'service.unauthorized',
    reason: 'the key is refused',
    next: 'set another',
  });
  await warehouse.query`
      insert into notifications (event, facts) values ('failed', '{"schedule": "nightly"}')`;
  await applyBudgetLimits(warehouse.database, { day: parseCredits('40') });
  const fixture = await openMetricsFixture(databaseUrl, { limits: { rateLimits } });
  const scrape = await fixture.scrape();
  await fixture.close();

  const window = 'endpoint="people/bulk_match",window="1h",counted_by="us"';
  const expected = {
    'enrich_budget_credits{budget="day",state="reserved"}': 3,
    'enrich_budget_limit_credits{budget="day"}': 40,
    'enrich_budget_limit_credits{budget="month"}': undefined,
    'enrich_credits{state="unknown"}': 3,
    'enrich_credits{state="settled"}': 0,
    enrich_scheduled_times_failed: 1,
    'enrich_attempts_open{status="unknown"}': 1,
    [`enrich_rate_window_slots{${window},state="used"}`]: 1,
    [`enrich_rate_window_slots{${window},state="free"}`]: 19,
    enrich_inbox_deliveries: 1,
    enrich_deliveries_quarantined: 1,
    'enrich_runs{status="running"}': 1,
    'enrich_runs{status="failed"}': 0,
    'enrich_runs_paused{type="service.unauthorized",needs="fix"}': 1,
    [`enrich_run_people{run="${runId}",state="asked"}`]: 3,
    [`enrich_run_people{run="${runId}",state="open"}`]: 7,
    [`enrich_run_budget_limit_credits{run="${runId}"}`]: 500,
  };
  const shown = Object.keys(expected).map((series) => [series, seriesValue(scrape, series)]);
  expect(Object.fromEntries(shown)).toEqual(expected);
  expect(seriesValue(scrape, 'enrich_attempts_unknown_oldest_seconds')).toBeGreaterThan(0);
  expect(seriesValue(scrape, 'enrich_inbox_oldest_seconds')).toBeGreaterThanOrEqual(90);
});

it('enrich_run_idle_seconds is 0 while a run waits for late results, and counts from an overdue poll', async () => {
  const warehouse = await openTestWarehouse();
  onTestFinished(() => warehouse.close());
  // Its only call was answered an hour ago, and its phones have not come.
  const { runId } = await answeredCall(warehouse);
  await warehouse.query`
    update runs set created_at = now() - interval '3 hours', ingested_at = now() - interval '2 hours',
      approved_at = now() - interval '3 hours'`;
  await warehouse.query`
    update attempts set admitted_at = now() - interval '1 hour', answered_at = now() - interval '1 hour'`;
  const idleSeconds = async (): Promise<number | undefined> => {
    const scrape = await readWarehouseMetrics(warehouse, {
      rateLimits: [],
      budgets: noBudgets,
      service: 'test',
    });
    return seriesValue(scrape, `enrich_run_idle_seconds{run="${runId}",status="running"}`);
  };
  expect(await idleSeconds()).toBe(0);
  await warehouse.query`update attempts set next_poll_at = now() - interval '10 minutes'`;
  expect(await idleSeconds()).toBeCloseTo(600, -1);
});

it('without the database, the metrics show the process, the Temporal SDK, and calls by their result', async () => {
  const temporal = createServer((_, response) =>
    response.end('# TYPE temporal_request counter\ntemporal_request 7'),
  );
  await listenHere(temporal);
  onTestFinished(() => void temporal.close());
  const fixture = await openMetricsFixture(`postgres://nobody@127.0.0.1:${await freePort()}/none`, {
    temporal: `http://127.0.0.1:${(temporal.address() as AddressInfo).port}/metrics`,
  });
  fixture.process.countRows(12);
  const observe = observeCalls(fixture.process, undefined)!;
  await observe(endpoint, () => Promise.resolve('an answer'));
  const refusal = new ServiceFailure('rate-limited', { endpoint, httpStatus: 429 });
  await expect(observe(endpoint, () => Promise.reject(refusal))).rejects.toBe(refusal);
  const scrape = await fixture.scrape();
  await fixture.close();
  expect(seriesValue(scrape, 'enrich_database_up')).toBe(0);
  expect(seriesValue(scrape, 'enrich_ingested_rows_total')).toBe(12);
  expect(seriesValue(scrape, 'enrich_build_info{version="1.2.3"}')).toBe(1);
  expect(seriesValue(scrape, 'temporal_request')).toBe(7);

  const failures = `enrich_service_failures_total{endpoint="${endpoint.name}"`;
  // Every type is there from the start, so that the first failure shows.
  const countOf = (type: string) => seriesValue(scrape, `${failures},type="${type}"}`);
  const counted = Object.keys(failureKinds).map((type) => [type, countOf(type)]);
  expect(counted.filter(([, count]) => count !== 0)).toEqual([['rate-limited', 1]]);
  const calls = 'enrich_service_calls_total{endpoint="POST /people/bulk_match"';
  expect(seriesValue(scrape, `${calls},result="answered"}`)).toBe(1);
  expect(seriesValue(scrape, `${calls},result="wait"}`)).toBe(1);
  expect(seriesValue(scrape, `${calls},result="unknown"}`)).toBe(0);
  const seconds = 'enrich_service_call_duration_seconds_count{endpoint="POST /people/bulk_match"}';
  expect(seriesValue(scrape, seconds)).toBe(2);
});
