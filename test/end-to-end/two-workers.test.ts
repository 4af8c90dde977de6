import { expect, it } from 'vitest';
import { TestSystem } from '../helpers/system/test-system.ts';
import { metricNames } from '../helpers/outputs/metrics-fixture.ts';
import { metricsOf, readPanels, readRules } from '../helpers/outputs/promql.ts';
import { maxCallsInWindow, expectPromisesKept } from '../helpers/system/promises.ts';

const limit = { calls: 20, seconds: 5 };

const system = await TestSystem.ofFile({ latency: 50, rateLimits: `${limit.calls}/${limit.seconds}s` });

it('two workers share one rate limit although one is killed and replaced', async () => {
  const shared = {
    RATE_LIMITS: `${limit.calls}/${limit.seconds}s`,
    ENRICH_HEARTBEAT_SECONDS: '3',
    ...system.sharedTemporal(),
  };
  const watched = system.begin(['worker'], { ...shared, METRICS_LISTEN: '127.0.0.1:0' });
  const killed = system.begin(['worker'], shared);
  const run = system.here(['run', system.sample(500, 5), '--yes', '--json'], shared);

  await expect.poll(() => system.sandbox.log.bill().calls, { interval: 100 }).toBeGreaterThan(22);
  killed.kill('SIGKILL');
  expect(watched.output()).toContain(`service: ${system.sandbox.baseUrl}; rate limits: 20/5s\n`);
  const metricsUrl = /metrics on (\S+)/.exec(watched.output())![1]!;
  // One scrape has metrics of the process, of the database, and of Temporal's SDK. The scrape leaves out the database's
  // metrics if the database does not answer in time.
  let scrape = '';
  const unserved = async (): Promise<readonly string[]> => {
    scrape = await (await fetch(metricsUrl)).text();
    const served = metricNames(scrape);
    return asked.filter((name) => name !== 'up' && !served.has(name));
  };
  const targets = readPanels().flatMap(({ targets: ofPanel = [] }) => ofPanel);
  const asked = [...targets, ...readRules()].flatMap(({ expr }) => metricsOf(expr));
  await expect.poll(unserved, { interval: 1_000 }).toEqual([]);
  await system.startWorker(shared);
  const facts = (await run).facts();
  watched.kill('SIGTERM');
  await Promise.all([watched.ended, system.stopWorker()]);

  expect(facts.status).toBe('finished');
  // The alert EnrichNoWorker recognises a worker by this metric.
  expect(scrape).toMatch(/^temporal_worker_task_slots_available\{.*worker_type="ActivityWorker".*\} \d/m);
  expect(maxCallsInWindow(system.sandbox, limit.seconds)).toBeLessThanOrEqual(limit.calls);
  expect(system.sandbox.log.bill().refused).toBe(0);
  // A slot is used again when its window is over. The kill blocks slots for up to two windows, until Temporal notices
  // the missing heartbeat, so the test takes the median. `npm run soak:limits` measures the used share.
  expect(medianReuse(system.sandbox.log.calls().map(({ at }) => at))).toBeLessThan(2 * limit.seconds * 1_000);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});

/** Median milliseconds from a call to the next call that uses the same slot. */
function medianReuse(times: readonly number[]): number {
  const reuses = times.slice(limit.calls).map((at, index) => at - times[index]!);
  return reuses.toSorted((one, other) => one - other)[Math.floor(reuses.length / 2)]!;
}
