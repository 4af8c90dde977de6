import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract.ts';
import type { DeliveryRule } from '../../src/sandbox/faults/scenario.ts';
import { TestSystem } from '../helpers/test-system.ts';
import { expectPromisesKept } from '../helpers/promises.ts';

let system: TestSystem;
const quick = { LATE_RESULTS_POLL_AFTER: '2s', LATE_RESULTS_DEADLINE: '20s' };

beforeAll(async () => {
  system = await TestSystem.open({ latency: 20, lateDelay: 600 });
});

beforeEach(() => system.sandbox.faults.set({}));

afterAll(() => system.close());

async function reveal(
  file: string,
  options: readonly string[] = ['--reveal', 'phone'],
  settings: Record<string, string> = {},
): Promise<RunFacts> {
  const ended = await system.enrich(['run', file, '--yes', '--json', ...options], { ...quick, ...settings });
  return ended.facts();
}

async function rows<Row>(statement: string, ...values: unknown[]): Promise<Row[]> {
  return (await system.warehouse.pool.query(statement, values)).rows as Row[];
}

async function phonesOf(runId: string): Promise<number> {
  const counted = await rows<{ phones: number }>(
    'select count(phone)::int as phones from enrichment.enriched_contacts where run_id = $1',
    runId,
  );
  return counted[0]!.phones;
}

/** Deliveries of a run by status. */
async function inbox(runId: string): Promise<Record<string, number>> {
  const counted = await rows<{ status: string; count: number }>(
    'select status, count(*)::int as count from enrichment.webhook_deliveries where run_id = $1 group by 1',
    runId,
  );
  return Object.fromEntries(counted.map(({ status, count }) => [status, count]));
}

describe('phones', () => {
  it('come by webhook, are applied, and their credits are settled', async () => {
    // Not so quick that a poll comes first where the machine is busy.
    const facts = await reveal(system.sample(80), ['--reveal', 'phone'], {
      LATE_RESULTS_POLL_AFTER: '30s',
      LATE_RESULTS_DEADLINE: '60s',
    });
    expect(facts).toMatchObject({
      status: 'finished',
      credits: { reserved: '0', unknown: '0' },
      late_results: { awaited: 0, expired: 0, orphaned: 0 },
    });
    expect(facts.late_results.arrived).toBe(facts.calls);
    expect(await phonesOf(facts.run_id)).toBeGreaterThan(15);
    expect(await inbox(facts.run_id)).toEqual({ applied: facts.calls });
    await expectPromisesKept(system);
  });

  it('are polled where no webhook comes, by the exact id of the request', async () => {
    system.sandbox.faults.set({ deliveries: [{ never: true }] });
    const facts = await reveal(system.sample(40));
    expect(facts).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
    expect(await phonesOf(facts.run_id)).toBeGreaterThan(5);
    const polled = new Set(
      system.sandbox.log
        .calls()
        .filter(({ path }) => path === '/webhook_result')
        .map(({ requestId }) => requestId),
    );
    const asked = await rows<{ request_id: string }>(
      'select request_id from enrichment.attempts where run_id = $1 and found_ids <> $2',
      facts.run_id,
      [],
    );
    expect(asked.every(({ request_id: id }) => polled.has(id))).toBe(true);
    expect(asked.some(({ request_id: id }) => !Number.isSafeInteger(Number(id)))).toBe(true);
    await expectPromisesKept(system);
  });

  it('are asked for again of a person whose profile alone is fresh, and not once they are fresh themselves', async () => {
    const file = system.sample(20);
    await reveal(file, []);
    const plan = JSON.parse((await system.enrich(['plan', file, '--json', '--reveal', 'phone'])).stdout) as {
      people: number;
    };
    expect(plan.people).toBeGreaterThan(10);
    await reveal(file);
    const again = await reveal(file);
    expect(again.calls).toBe(0);

    // Nor once all that could be removed of it is.
    const retention = 'answers=0s,deliveries=0s,staging=0s';
    const pruned = await system.enrich(['prune', '--retention', retention, '--yes', '--json']);
    expect(JSON.parse(pruned.stdout)).toMatchObject({ removed: true, kept: { answers: 0, runs: 0 } });
    await expectPromisesKept(system);
    expect((await reveal(file)).calls).toBe(0);
  });

  it.each<[string, DeliveryRule, Partial<RunFacts['late_results']>]>([
    ['three times each', { copies: 3 }, {}],
    ['before the answer', { before_answer: true }, {}],
    ['in any order, over one another', { jitter: 2_000, copies: 2 }, {}],
    ['one body for each person', { split: true }, {}],
    ['compressed', { gzip: true }, {}],
    ['with NUL in a text', { body: 'nul' }, {}],
    ['with half a surrogate pair', { body: 'surrogate' }, {}],
    ['with a number beyond every float', { body: 'huge-number' }, {}],
  ])('delivered %s have one effect', async (_, rule, late) => {
    system.sandbox.faults.set({ deliveries: [rule] });
    const facts = await reveal(system.sample(40));
    expect(facts).toMatchObject({
      status: 'finished',
      credits: { reserved: '0', unknown: '0' },
      late_results: { awaited: 0, expired: 0, orphaned: 0, ...late },
    });
    expect(await phonesOf(facts.run_id)).toBeGreaterThan(5);
    expect((await inbox(facts.run_id))['quarantined']).toBeUndefined();
    await expectPromisesKept(system);
  });

  it.each(['not-json', 'cut', 'empty'] as const)(
    'delivered as something that is %s are kept, quarantined, and fetched by a poll or held',
    async (body) => {
      system.sandbox.faults.set({ deliveries: [{ body }] });
      const facts = await reveal(system.sample(20), ['--reveal', 'phone'], { LATE_RESULTS_DEADLINE: '5s' });
      expect(facts.status).toBe('finished');
      expect((await inbox(facts.run_id))['quarantined']).toBeGreaterThan(0);
      await expectPromisesKept(system);
    },
  );

  it('of a person whom no person asked for are quarantined, and the credits held', async () => {
    system.sandbox.faults.set({ deliveries: [{ people: 'foreign' }] });
    const facts = await reveal(system.sample(20), ['--reveal', 'phone'], { LATE_RESULTS_DEADLINE: '5s' });
    expect(await phonesOf(facts.run_id)).toBe(0);
    expect((await inbox(facts.run_id))['quarantined']).toBeGreaterThan(0);
    await expectPromisesKept(system);
  });

  it.each(['missing', 'negative', 'text'] as const)(
    'whose price is %s leave their credits held as unknown',
    async (credits) => {
      system.sandbox.faults.set({ deliveries: [{ credits }] });
      const ended = await system.enrich(
        ['run', system.sample(20), '--yes', '--json', '--reveal', 'phone'],
        quick,
      );
      expect(ended.code).toBe(3);
      expect(Number(ended.facts().credits.unknown)).toBeGreaterThan(0);
      expect(await phonesOf(ended.facts().run_id)).toBeGreaterThan(2);
      await expectPromisesKept(system);
    },
  );

  it('that are skipped or fail are not waited for', async () => {
    system.sandbox.faults.set({ rules: [{ phone_enrichment: 'failed' }] });
    const facts = await reveal(system.sample(20), ['--reveal', 'phone'], { LATE_RESULTS_DEADLINE: '10m' });
    expect(facts).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
    await expectPromisesKept(system);
  });
});

describe('a waterfall', () => {
  it('needs to know what one person may cost', async () => {
    const refused = await system.enrich(['run', system.sample(5), '--yes', '--waterfall', 'phone']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--max-credits-per-person');
  });

  it('and phones of one request are two bodies: both are kept and both take effect', async () => {
    const facts = await reveal(system.sample(30), [
      '--reveal',
      'phone',
      '--waterfall',
      'email,phone',
      '--max-credits-per-person',
      '20',
    ]);
    expect(facts).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
    expect(await inbox(facts.run_id)).toEqual({ applied: 2 * facts.calls });
    const origins = await rows<{ origin: string }>(
      'select distinct origin from enrichment.person_phones where run_id = $1',
      facts.run_id,
    );
    expect(origins.length).toBeGreaterThan(0);
    await expectPromisesKept(system);
  });

  it('that the service does not accept is not waited for', async () => {
    system.sandbox.faults.set({ rules: [{ waterfall: 'failed' }] });
    const facts = await reveal(
      system.sample(20),
      ['--waterfall', 'phone', '--max-credits-per-person', '20'],
      {
        LATE_RESULTS_DEADLINE: '10m',
      },
    );
    expect(facts.status).toBe('finished');
    expect(facts.late_results.awaited).toBe(0);
  });
});

describe('after its run', () => {
  it('a result is applied by the sweep, marked late', async () => {
    system.sandbox.faults.set({ deliveries: [{ never: true, delay: 4_000 }] });
    const facts = await reveal(system.sample(20), ['--reveal', 'phone'], {
      LATE_RESULTS_POLL_AFTER: '10m',
      LATE_RESULTS_DEADLINE: '1s',
    });
    expect(facts.status).toBe('finished');
    expect(facts.late_results.expired).toBeGreaterThan(0);
    expect(Number(facts.credits.reserved)).toBeGreaterThan(0);
    await waitUntil(allAreReady);
    expect((await system.enrich(['inbox', 'sweep'])).stdout).toMatch(/applied \d+ deliveries/);
    const after = JSON.parse((await system.enrich(['status', facts.run_id, '--json'])).stdout) as RunFacts;
    expect(after).toMatchObject({ credits: { reserved: '0', unknown: '0' }, late_results: { expired: 0 } });
    expect(after.late_results.late).toBe(after.late_results.arrived);
    await expectPromisesKept(system);
  });
});

/** Last: here the service misstates its prices, and its bill and ours differ for good. */
describe('a delivery', () => {
  it('that bills more than was reserved is recorded and shown, and stops further calls', async () => {
    system.sandbox.faults.set({ deliveries: [{ credits: 'double', from: 1, to: 1 }] });
    const ended = await system.enrich(
      ['run', system.sample(200), '--yes', '--json', '--reveal', 'phone', '--rate-limits', '2/1s'],
      quick,
    );
    expect(ended.code).toBe(3);
    expect(ended.facts()).toMatchObject({ status: 'paused', reason: expect.stringContaining('billed more') });
    system.sandbox.faults.set({});
    await system.enrich(['cancel', ended.facts().run_id]);
  });
});

function allAreReady(): boolean {
  return system.sandbox.lateResults().every((result) => result.counted);
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50));
}
