import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Scenario } from '../../src/sandbox/faults.ts';
import { sum, TestSystem } from '../helpers/system/test-system.ts';
import { freePort } from '../helpers/servers/ports.ts';
import { startTcpProxy } from '../helpers/servers/tcp-proxy.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 20 });

beforeEach(() => system.sandbox.faults.set({}));

/** Counts the attempts of a run by status. */
async function attemptsOf(runId: string): Promise<Record<string, number>> {
  const rows = await system.warehouse.query<{ status: string; count: number }>`
    select status, count(*)::int as count from enrichment.attempts where run_id = ${runId} group by 1`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Returns the id of one settled call of a run. */
async function closedCallOf(runId: string): Promise<string[]> {
  const rows = await system.warehouse.query<{ attempt_id: string }>`
    select attempt_id from enrichment.attempts where run_id = ${runId} and status = 'settled' limit 1`;
  return rows.map(({ attempt_id: attemptId }) => attemptId);
}

it('if the service refuses one person, only this person is rejected; a call refused with 429 is repeated', async () => {
  await system.startWorker();
  const file = join(system.directory, 'poison.csv');
  const people = Array.from({ length: 40 }, (_, index) => `Cara,Poison${index}x,cara${index}@works.example`);
  writeFileSync(file, `first_name,last_name,email\n${people.join('\n')}\n`);
  system.sandbox.faults.set({
    rules: [
      { containing: 'Poison14x', status: 422 },
      { path: '/people/bulk_match', from: 2, to: 3, status: 429, retry_after: '1' },
    ],
  });
  const facts = (await system.here(['run', file, '--yes', '--json'])).facts();
  expect(facts).toMatchObject({ status: 'finished', outcomes: { rejected: 1 } });
  expect(sum(facts.outcomes)).toBe(40);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});

/** A worker that makes one call at a time. */
const oneAtATime = { ...system.sharedTemporal(), CALL_CONCURRENCY: '1' };

/** Settings of a command that leaves the choice of the service to the workers. */
const ofWorkers = { ENRICHMENT_BASE_URL: '' };

// The tests of the service's client cover each reason for which a call is not sent.
it('unsent calls are retried at no cost until the service is reachable, and then the run continues', async () => {
  const port = await freePort();
  await system.startWorker({ ENRICHMENT_BASE_URL: `http://127.0.0.1:${port}/api/v1` });
  const running = system.here(['run', system.sample(60), '--yes', '--json'], ofWorkers);
  const released = async (): Promise<number> => {
    const rows = await system.warehouse.query<{ calls: number }>`
      select count(*)::int as calls from enrichment.attempts where status = 'released'`;
    return rows[0]!.calls;
  };
  // A run pauses after this many failures in a row of calls that may have been billed.
  const failuresInARow = 5;
  await expect.poll(released).toBeGreaterThan(failuresInARow);
  const proxy = await startTcpProxy(Number(new URL(system.sandbox.baseUrl).port), port);
  onTestFinished(() => proxy.close());
  const facts = (await running).facts();
  expect(facts).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
  expect(sum(facts.outcomes)).toBe(60);
  await expectPromisesKept(system);
});

it('a worker that Temporal abandoned during its call makes no second call for the same people', async () => {
  system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', to: 2, delay: 8_000 }] });
  const before = system.sandbox.log.bill().calls;
  const abandoned = system.begin(['worker'], oneAtATime);
  // The second worker starts only now: a worker alone would make both calls.
  await expect.poll(abandoned.output).toContain('stop it with Ctrl-C');
  await system.startWorker(oneAtATime);
  const ofRun = { ...oneAtATime, ENRICH_HEARTBEAT_SECONDS: '3' };
  const run = system.here(['run', system.sample(60), '--yes', '--json'], ofRun);
  // Each worker makes one call at a time, so one of the first two calls belongs to the abandoned worker.
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

it('a run pauses when the account has no credits, and a resume continues after credits were added', async () => {
  await system.startWorker(oneAtATime);
  let command = ['run', system.sample(60), '--yes', '--json'];
  const faults: Scenario[] = [
    { credits_left: 12, out_of_credits: 402 },
    { credits_left: 12, out_of_credits: 200 },
  ];
  for (const fault of faults) {
    system.sandbox.faults.set(fault);
    const before = system.sandbox.log.bill().calls;
    const paused = await system.here(command);
    expect(paused.code).toBe(3);
    expect(paused.facts()).toMatchObject({ status: 'paused', reason: expect.any(String) });
    expect(paused.facts().outcomes['rejected']).toBeUndefined();
    expect(system.sandbox.log.bill().calls).toBeGreaterThan(before);
    command = ['resume', paused.facts().run_id, '--json'];
  }
  system.sandbox.faults.set({});
  const resumed = (await system.here(command)).facts();
  expect(resumed.status).toBe('finished');
  expect(sum(resumed.outcomes)).toBe(60);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});

/**
 * This test is the last one of the file: its people may be in the export of another test, which would then look them up
 * again.
 */
it('a call has unknown cost and is not repeated after a timeout, HTML, a reset, a 502 or a bad price', async () => {
  const faults = [
    { answer: 'html' },
    { answer: 'cut' },
    { answer: 'reset' },
    { status: 502 },
    { credits: 'missing' },
    { credits: 'negative' },
    { credits: 'text' },
    { delay: 3_000 },
  ] as const;
  const path = '/people/bulk_match';
  system.sandbox.faults.set({
    rules: faults.map((fault, index) => ({ path, from: index + 2, to: index + 2, ...fault })),
  });
  await system.startWorker({ CALL_TIMEOUT: '1s' });
  const ended = (await system.here(['run', system.sample(150), '--yes', '--json'])).facts();
  const runId = ended.run_id;
  expect(Number(ended.credits.unknown)).toBeGreaterThan(0);
  expect((await attemptsOf(runId))['unknown']).toBe(faults.length);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});

  // A mistyped id, the id of a settled call and Ctrl-C each release no call.
  const { stdout } = await system.here(['attempts', 'list', runId, '--json']);
  const [call] = JSON.parse(stdout) as { attempt_id: string }[];
  const id = call!.attempt_id;
  const shown = await system.here(['attempts', 'list', id]);
  expect(shown.stderr).toContain('next: enrich attempts settle ATTEMPT --credits N if the service billed');
  for (const other of ['no-such-attempt', ...(await closedCallOf(runId))])
    expect(await system.here(['attempts', 'release', '--yes', id, other])).toMatchObject({
      code: 2,
      stdout: '',
    });
  const refused = await system.answerPrompts(['attempts', 'release', id], '\u0003');
  expect(refused.shown).toContain('nothing was decided');
  expect(refused.code).toBe(3);
  expect((await attemptsOf(runId))['unknown']).toBe(faults.length);
  await expectPromisesKept(system);
});
