import { expect, it } from 'vitest';
import { TestSystem, type RunningCommand } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

/** This test takes over a minute, because a rate window is a minute: `npm run soak:limits`. */
it(
  'workers respect a service with lower limits than RATE_LIMITS, and use its next window at once',
  { timeout: 150_000 },
  async () => {
    const system = await TestSystem.open({ latency: 100, rateLimits: '20/minute' });
    const file = system.sample(400, 903);
    const started = Date.now();
    const ended = await system.enrich(['run', file, '--yes', '--json'], { RATE_LIMITS: 'unlimited' });
    const { calls, refused } = system.sandbox.log.bill();
    expect(ended.facts()).toMatchObject({ status: 'finished' });
    expect(calls).toBeGreaterThan(20);
    // The service counts fixed windows and refuses calls above the limit. Its headers suffice to prevent every refusal.
    expect(refused).toBe(0);
    expect(Date.now() - started).toBeLessThan(90_000);
    await expectPromisesKept(system, 'unlimited');
    await system.close();
  },
);

/**
 * Each window begins later than the service would allow, by the time of an answer and of our own work. Measured: 98.8
 * to 99.0 %.
 *
 * The worker is killed while no call is in flight. A call in flight at a kill may still reach the service, so its slot
 * stays taken until its deadline and one window later: kills at any moment left 96.9 to 97.4 % in three of eight runs.
 */
it(
  'three workers use at least 98 % of one rate limit over six windows although one is restarted',
  { timeout: 240_000 },
  async () => {
    const windows = 6;
    const perWindow = 20;
    const windowSeconds = 10;
    const system = await TestSystem.open({ latency: 50, rateLimits: `${perWindow}/${windowSeconds}s` });
    const file = system.sample(1_400, 904);
    const shared = { ...system.sharedTemporal(), RATE_LIMITS: `${perWindow}/${windowSeconds}s` };
    const begin = (): RunningCommand => system.begin(['worker'], shared);
    const workers = [begin(), begin(), begin()];
    const run = system.begin(['run', file, '--yes', '--json'], shared);
    const calls = (): number[] => system.sandbox.log.calls().map(({ at }) => at);
    const inFlight = `select count(*)::int as calls from attempts where status = 'admitted'`;
    const rest = async () => ({
      isAfterTwoWindows: calls().length >= 2 * perWindow,
      inFlight: (await system.warehouse.pool.query<{ calls: number }>(inFlight)).rows[0]!.calls,
    });
    await expect
      .poll(rest, { timeout: 120_000, interval: 20 })
      .toEqual({ isAfterTwoWindows: true, inFlight: 0 });
    workers[0]!.kill('SIGKILL');
    workers.push(begin());
    await expect.poll(() => calls().length, { timeout: 120_000 }).toBeGreaterThan(windows * perWindow);
    const times = calls();
    const seconds = (times[windows * perWindow]! - times[0]!) / 1_000;
    const used = (windows * windowSeconds) / seconds;
    const { refused } = system.sandbox.log.bill();
    process.stdout.write(
      `${windows} windows of ${perWindow} calls in ${windowSeconds} s: ${seconds.toFixed(2)} s, ` +
        `${(used * 100).toFixed(1)} % of the allowed calls used, ${refused} refused\n`,
    );
    await run.ended;
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map((worker) => worker.ended));
    expect(refused).toBe(0);
    expect(used).toBeGreaterThanOrEqual(0.98);
    await expectPromisesKept(system, shared.RATE_LIMITS);
    await system.close();
  },
);
