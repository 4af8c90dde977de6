import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Scenario } from '../../src/sandbox/faults.ts';
import { TestSystem, type Begun } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

let system: TestSystem;

/** Calls that the service let through, and those that it refused for their rate. */
function callsSeen(): { accepted: number; refused: number } {
  const { calls, refused } = system.sandbox.log.bill();
  return { accepted: calls - refused, refused };
}

/** Ends a run that would wait for an hour. */
async function cancel(run: Begun): Promise<void> {
  const rows = await system.warehouse.query<{ run_id: string }>`
    select run_id from enrichment.runs order by created_at desc`;
  const cancelled = await system.here(['cancel', rows[0]!.run_id]);
  expect(cancelled).toMatchObject({ code: 0 });
  await run.ended;
}

describe('a quota that other programs use as well', () => {
  const others = (used: number): Scenario => ({
    rules: [{ path: '/people/bulk_match', used_by_others: used }],
  });

  async function open(used: number): Promise<void> {
    system = await TestSystem.open({ latency: 100, rateLimits: '600/hour' });
    system.sandbox.faults.set(others(used));
  }

  afterEach(() => system.close());

  it('a quota that other programs use is used up to its last call, and no call is refused', async () => {
    await open(596);
    await system.startWorker();
    const run = system.begin(['run', system.sample(100), '--yes', '--json']);
    await expect.poll(run.output).toContain('no calls left in its window of 1h');
    expect(callsSeen()).toEqual({ accepted: 4, refused: 0 });
    await cancel(run);
    await expectPromisesKept(system);
  });
});

describe('a refusal for rate (429)', () => {
  const refusing = (retryAfter: string | null | { date: number }): Scenario => ({
    rules: [{ path: '/people/bulk_match', from: 3, to: 5, status: 429, retry_after: retryAfter }],
  });
  let earlier: number;

  beforeAll(async () => {
    system = await TestSystem.open({ latency: 100, worker: true });
  });

  beforeEach(() => {
    earlier = refusals().length;
  });

  afterAll(() => system.close());

  /** When the service refused a call. */
  function refusals(): number[] {
    return system.sandbox.log
      .calls()
      .filter(({ status }) => status === 429)
      .map((call) => call.at);
  }

  /** Refusals that came while the calls of one worker were in flight together count as one. */
  function waves(): { refusals: number; secondsAfter: number }[] {
    const times = refusals().slice(earlier);
    const found: { refusals: number; secondsAfter: number }[] = [];
    for (const [index, at] of times.entries()) {
      const secondsAfter = index === 0 ? 0 : (at - times[index - 1]!) / 1_000;
      const last = found.at(-1);
      if (last && secondsAfter < 1) last.refusals += 1;
      else found.push({ refusals: 1, secondsAfter });
    }
    return found;
  }

  // Every kind of it is read by unit tests; here it is one that is absent, and one that is a date.
  it.each([null, { date: 2 }])(
    'a refusal for the rate with retry-after %o pauses every worker, and one call probes',
    async (retryAfter) => {
      system.sandbox.faults.set(refusing(retryAfter));
      const ended = await system.here(['run', system.sample(80), '--yes', '--json']);
      expect(ended.facts()).toMatchObject({ status: 'finished' });
      const [first, ...later] = waves();
      expect(first!.refusals).toBeLessThanOrEqual(4);
      expect(refusals().length - earlier).toBe(3);
      for (const wave of later) expect(wave.refusals).toBe(1);
      for (const wave of later) expect(wave.secondsAfter).toBeGreaterThanOrEqual(1);
      expect(system.sandbox.log.bill().billedAgain).toEqual({});
      await expectPromisesKept(system);
    },
  );
});
