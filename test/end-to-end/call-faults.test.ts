import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { TestSystem } from '../helpers/system/test-system.ts';
import { freePort } from '../helpers/servers/ports.ts';
import { startTcpProxy } from '../helpers/servers/tcp-proxy.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 20 });

beforeEach(() => system.sandbox.faults.set({}));

/** Attempts of a run by status. */
async function attemptsOf(runId: string): Promise<Record<string, number>> {
  const rows = await system.warehouse.query<{ status: string; count: number }>`
    select status, count(*)::int as count from enrichment.attempts where run_id = ${runId} group by 1`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** A call of a run whose cost is final. */
async function closedCallOf(runId: string): Promise<string[]> {
  const rows = await system.warehouse.query<{ attempt_id: string }>`
    select attempt_id from enrichment.attempts where run_id = ${runId} and status = 'settled' limit 1`;
  return rows.map(({ attempt_id: attemptId }) => attemptId);
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

it('a call without an answer in time is unknown, and neither a mistyped id nor Ctrl-C releases it', async () => {
  system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', from: 2, to: 2, delay: 6_000 }] });
  await system.startWorker({ CALL_TIMEOUT: '3s' });
  const ended = await system.here(['run', system.sample(30), '--yes', '--json']);
  const runId = ended.facts().run_id;
  const { stdout } = await system.here(['attempts', 'list', runId, '--json']);
  const [call] = JSON.parse(stdout) as { attempt_id: string }[];
  const shown = await system.here(['attempts', 'list', call!.attempt_id]);
  expect(shown.stderr).toContain('next: enrich attempts settle ATTEMPT --credits N if the service billed');
  const released = await system.here(['attempts', 'release', call!.attempt_id, 'no-such-attempt']);
  expect(released).toMatchObject({ code: 2, stdout: '' });
  // The first call needs no decision, which ends the command after its warning.
  const billed = await system.here([
    'attempts',
    'release',
    '--yes',
    ...(await closedCallOf(runId)),
    call!.attempt_id,
  ]);
  expect(billed).toMatchObject({ code: 2, stdout: '' });
  expect(billed.stderr).toMatch(
    /^warning: without 2 released calls, the service has billed \d+ credits more/m,
  );
  const release = ['attempts', 'release', call!.attempt_id, call!.attempt_id];
  for (const [answer, code] of [
    ['n\n', 0],
    ['\u0003', 3],
  ] as const) {
    const refused = await system.answerPrompts(release, answer);
    expect(refused.shown).toContain('nothing was decided');
    expect(refused.code).toBe(code);
  }
  expect((await attemptsOf(runId))['unknown']).toBe(1);
  expect(Number(ended.facts().credits.unknown)).toBeGreaterThan(0);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});

/** Settings of a command that leaves the choice of the service to the workers. */
const ofWorkers = { ENRICHMENT_BASE_URL: '' };

// Each reason for which a call is not sent is in the tests of the service's client.
it('a call that was not sent is retried at no cost until the service is reachable, and the run continues', async () => {
  const port = await freePort();
  await system.startWorker({ ENRICHMENT_BASE_URL: `http://127.0.0.1:${port}/api/v1` });
  const running = system.here(['run', system.sample(60), '--yes', '--json'], ofWorkers);
  const released = async (): Promise<number> => {
    const rows = await system.warehouse.query<{ calls: number }>`
      select count(*)::int as calls from enrichment.attempts where status = 'released'`;
    return rows[0]!.calls;
  };
  // After this many failures of calls that may have been billed, a run pauses.
  const failuresInARow = 5;
  await expect.poll(released, { timeout: 30_000 }).toBeGreaterThan(failuresInARow);
  const proxy = await startTcpProxy(Number(new URL(system.sandbox.baseUrl).port), port);
  onTestFinished(() => proxy.close());
  const facts = (await running).facts();
  expect(facts).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
  expect(sum(facts.outcomes)).toBe(60);
  await system.startWorker();
  await expectPromisesKept(system);
});

it('a worker that Temporal abandoned during its call asks for no person twice when it comes back', async () => {
  system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', to: 2, delay: 15_000 }] });
  const before = system.sandbox.log.bill().calls;
  const settings = { ...system.sharedTemporal(), CALL_CONCURRENCY: '1' };
  const abandoned = system.begin(['worker'], settings);
  // A worker alone would make both calls.
  await expect.poll(abandoned.output).toContain('stop it with Ctrl-C');
  await system.startWorker(settings);
  const run = system.here(['run', system.sample(60), '--yes', '--json'], settings);
  // One call at a time each: of the first two calls one is the abandoned worker's.
  await expect.poll(() => system.sandbox.log.bill().calls - before, { interval: 50 }).toBe(2);
  abandoned.kill('SIGSTOP');
  const unknown = 'select count(*)::int as n from enrichment.attempts where reason like $1';
  await expect
    .poll(async () => (await system.warehouse.pool.query(unknown, ['the worker that made%'])).rows[0])
    .toEqual({ n: 1 });
  abandoned.kill('SIGCONT');
  const facts = (await run).facts();
  abandoned.kill('SIGTERM');
  await abandoned.ended;
  expect(sum(facts.outcomes)).toBe(60);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});

describe('with one call at a time', () => {
  beforeAll(() => system.startWorker({ CALL_CONCURRENCY: '1' }));

  it('a call that is answered with nothing or without a list is unknown, and no person gets data', async () => {
    system.sandbox.faults.set({
      rules: [
        { path: '/people/bulk_match', from: 2, to: 2, answer: 'empty' },
        { path: '/people/bulk_match', from: 3, to: 3, matches: 'not-a-list' },
      ],
    });
    const facts = (await system.here(['run', system.sample(40), '--yes', '--json'])).facts();
    expect((await attemptsOf(facts.run_id))['unknown']).toBe(2);
    expect(sum(facts.outcomes)).toBe(40);
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(system);
  });

  describe('an answer that the database refuses', () => {
    // The other batch of the run must not call before the database has the pause.
    beforeAll(async () => {
      await system.warehouse.query`
        create function take_long() returns trigger language plpgsql as $$
          begin perform pg_sleep(0.3); return new; end $$;
        create trigger take_long before update on runs
          for each row when (new.status = 'paused') execute function take_long()`;
    });

    afterAll(() => system.warehouse.pool.query('drop function take_long() cascade'));

    it('an answer that the database refuses is kept, its call is unknown, and the run pauses', async () => {
      system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', credits: 'huge' }] });
      const paused = await system.here(['run', system.sample(20), '--yes', '--json']);
      expect(paused.code).toBe(3);
      const { run_id: runId, status, calls } = paused.facts();
      expect({ status, calls }).toEqual({ status: 'paused', calls: 1 });
      const rows = await system.warehouse.query`
        select status, reason is not null as explained, length(body_gzip) > 500 as kept
        from enrichment.attempts left join enrichment.raw_answers using (attempt_id) where run_id = ${runId}`;
      expect(rows).toEqual([{ status: 'unknown', explained: true, kept: true }]);
      await system.here(['cancel', runId]);
      await expectPromisesKept(system);
    });
  });

  it('answers with ids that no index can hold give the rows their data', async () => {
    system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', matches: 'long-ids' }] });
    const ended = await system.here(['run', system.sample(20), '--yes', '--json']);
    expect(ended.code).toBe(0);
    const { outcomes, credits } = ended.facts();
    expect(outcomes['enriched']).toBe(Number(credits.settled));
    await expectPromisesKept(system);
  });

  it('an account without credits pauses the run, fails no row, and continues with new credits', async () => {
    let command = ['run', system.sample(60), '--yes', '--json'];
    for (const status of [200, 402, 403] as const) {
      system.sandbox.faults.set({ credits_left: 12, out_of_credits: status });
      const before = system.sandbox.log.bill().calls;
      const paused = await system.here(command);
      expect(paused.code).toBe(3);
      expect(paused.facts()).toMatchObject({ status: 'paused', reason: expect.any(String) });
      expect(paused.facts().outcomes['rejected']).toBeUndefined();
      // A call with the credits that are left, and one that the service refuses.
      expect(system.sandbox.log.bill().calls - before).toBeGreaterThan(1);
      command = ['resume', paused.facts().run_id, '--json'];
    }
    system.sandbox.faults.set({});
    const resumed = (await system.here(command)).facts();
    expect(resumed.status).toBe('finished');
    expect(sum(resumed.outcomes)).toBe(60);
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(system);
  });

  describe('a price that the service did not announce', () => {
    it('an unannounced price of fractions of a credit is settled exactly', async () => {
      system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', price: 0.07 }] });
      const before = Number(system.sandbox.log.bill().credits);
      const { credits } = (await system.here(['run', system.sample(40), '--yes', '--json'])).facts();
      expect(credits).toEqual({
        settled: expect.stringContaining('.'),
        reserved: '0',
        unknown: '0',
      });
      expect(Number(credits.settled)).toBeCloseTo(Number(system.sandbox.log.bill().credits) - before, 6);
      await expectPromisesKept(system);
    });

    it('a price above the reservation is recorded, and no call follows until an operator resumes', async () => {
      system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', from: 2, to: 3, price: 30 }] });
      const paused = await system.here(['run', system.sample(60), '--yes', '--json']);
      expect(paused.code).toBe(3);
      expect(paused.facts()).toMatchObject({
        status: 'paused',
        calls: 2,
        reason: expect.stringContaining('billed more'),
      });
      await expectPromisesKept(system);
      const resume = ['resume', paused.facts().run_id, '--json'];
      // The service still bills more: a resumed run sends one call.
      expect((await system.here(resume)).facts()).toMatchObject({
        status: 'paused',
        calls: 3,
        reason_type: 'service.overbilled',
      });
      await expectPromisesKept(system);
      const resumed = (await system.here(resume)).facts();
      expect(resumed).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
      expect(sum(resumed.outcomes)).toBe(60);
      await expectPromisesKept(system);
    });
  });

  describe('workers that ask another service than a run was ordered for', () => {
    const elsewhere = (): Record<string, string> => ({
      ENRICHMENT_BASE_URL: system.sandbox.baseUrl.replace('127.0.0.1', 'localhost'),
    });

    // The worker of the tests above asks the first service.
    it('workers of another service send nothing of a run that already has answers', async () => {
      system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', from: 2, status: 401 }] });
      const paused = (await system.here(['run', system.sample(30), '--yes', '--json'])).facts();
      await system.startWorker(elsewhere());
      system.sandbox.faults.set({});
      const before = system.sandbox.log.bill().calls;
      const resumed = (await system.here(['resume', paused.run_id, '--json'], elsewhere())).facts();
      expect(resumed).toMatchObject({
        status: 'paused',
        reason: expect.stringContaining('this run belongs to the service'),
      });
      expect(system.sandbox.log.bill().calls).toBe(before);
      await system.startWorker();
      expect((await system.here(['resume', paused.run_id, '--json'])).facts()).toMatchObject({
        status: 'finished',
      });
    });

    it('a run whose command names no service pays once for each person at that of the workers', async () => {
      await system.startWorker(elsewhere());
      const file = unseen('nova');
      const first = await system.here(['run', file, '--yes', '--json'], ofWorkers);
      const again = await system.here(['run', file, '--yes', '--json'], elsewhere());
      expect(first.facts()).toMatchObject({ status: 'finished', calls: 2 });
      expect(again.facts()).toMatchObject({ status: 'finished', calls: 0 });
    });

    it('workers of another service send nothing of a run whose command names its service', async () => {
      await system.startWorker(elsewhere());
      const before = system.sandbox.log.bill().calls;
      const paused = (await system.here(['run', unseen('vega'), '--yes', '--json'])).facts();
      expect(paused).toMatchObject({ status: 'paused', reason_type: 'service.other' });
      expect(system.sandbox.log.bill().calls).toBe(before);
      await system.startWorker();
      expect((await system.here(['resume', paused.run_id, '--json'])).facts()).toMatchObject({
        status: 'finished',
        calls: 2,
      });
    });

    /** People whom no other test has asked a service for. */
    function unseen(name: string): string {
      const file = join(system.directory, `${name}.csv`);
      const addresses = Array.from({ length: 12 }, (_, n) => `${name}${n}@unseen.example`);
      writeFileSync(file, ['Email', ...addresses].join('\n'));
      return file;
    }
  });
});

// Last, because the sandbox has not billed this cost.
it('a call whose deliveries state a cost is settled from that cost to its held credits, and not released', async () => {
  const rows = await system.warehouse.query<{ attempt_id: string }>`
    update enrichment.attempts set credits_stated = 3 where status = 'unknown' returning attempt_id`;
  const id = rows[0]!.attempt_id;
  const decide = (...words: string[]) => system.here(['attempts', ...words, '--yes', '--by', 'lea']);
  for (const refused of [
    await decide('release', id),
    await decide('settle', id, '--credits', '2'),
    await decide('settle', id, '--credits', '999'),
  ])
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect((await system.here(['attempts', 'settle', id])).code).toBe(3);
  const settled = await decide('settle', id, '--credits', '4', '--reason', 'ticket 17');
  expect(settled).toMatchObject({ code: 0, stdout: `${id}: settled with 4 credits\n` });
  const shown = await system.here(['attempts', 'list', id]);
  expect(shown.stdout).toContain('decided by lea: 4 credits (ticket 17)');
});
