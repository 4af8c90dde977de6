import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { bulkMatchScope } from '../../src/ledger/rate-windows.ts';
import { projectFile } from '../../src/files/project-file.ts';
import { currentDetails, expectFiguresOf } from '../helpers/temporal/play-run.ts';
import { sum, TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const patient = { interval: 50 };

const system = await TestSystem.ofFile({ latency: 30 });

async function latestRun(): Promise<string> {
  const rows = await system.warehouse.query<{ run_id: string }>`
    select run_id from enrichment.runs order by created_at desc limit 1`;
  return rows[0]!.run_id;
}

/** Counts the bulk calls in the rate windows; polls have other rate windows. */
async function countedCalls(): Promise<number> {
  const rows = await system.warehouse.query<{ calls: number }>`
    select count(*)::int as calls from enrichment.rate_calls where scope = ${bulkMatchScope}`;
  return rows[0]!.calls;
}

async function statusOf(runId: string): Promise<RunFacts> {
  return (await system.here(['status', runId, '--json'])).facts();
}

it.each([
  ['SIGINT to its own process', false],
  ['SIGKILL to npx, its parent process', true],
])('enrich run with its own worker pauses its run after %s', async (_, byNpx) => {
  // The rate window also has the calls of the tests above.
  const RATE_LIMITS = `${(await countedCalls()) + 2}/hour`;
  const calls = () => system.sandbox.log.calls().length;
  const before = calls();
  const run = ['run', system.sample(60), '--yes', '--json'];
  const pidFile = join(system.directory, 'pid');
  const byShell = `echo $$ > ${pidFile}; cd ${projectFile('.')}; exec setsid npx enrich ${run.join(' ')}`;
  const npm = { npm_config_update_notifier: 'false', npm_config_logs_max: '0' };
  const running = byNpx
    ? system.shell(byShell, { RATE_LIMITS, ...npm })
    : system.hereAlone(run, { RATE_LIMITS });
  await expect.poll(calls, patient).toBe(before + 2);
  if (byNpx) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  else process.emit('SIGINT', 'SIGINT');
  const ended = await running;
  const next = expect.stringContaining('enrich resume');
  const interrupted = { status: 'paused', reason_type: 'run.interrupted', calls: 2, next };
  expect(ended.facts()).toMatchObject({ ...interrupted, credits: { reserved: '0', unknown: '0' } });
  expect(ended.stderr).toContain('no further call is sent');
  expect(await statusOf(ended.facts().run_id)).toMatchObject(interrupted);
  await expectPromisesKept(system);
});

/** Runs a command, and kills its process at this point of a call. */
async function killAt(point: string, command: readonly string[]): Promise<void> {
  const killed = await system.enrich(command, { ENRICH_KILL_AT: point, ENRICH_HEARTBEAT_SECONDS: '3' });
  expect({ point, code: killed.code }).toEqual({ point, code: null });
}

/** Expects that commands explain a killed run, and that a pause closes its calls without a new call. */
async function expectPausable(runId: string): Promise<void> {
  const { calls } = system.sandbox.log.bill();
  const killed = await system.hereAlone(['status', runId.slice(-6)]);
  expect(killed.stdout).toContain(`run ${runId}: interrupted`);
  expect(killed.stdout).toContain('no worker carries out the run');
  expect(killed.stdout).toMatch(/\d+ calls? had no recorded answer, and the credits stay reserved/);
  expect(killed.stdout).toContain(`next: enrich resume ${runId}`);
  const listed = await system.hereAlone(['status', '--json']);
  expect(listed.stderr).toContain(`${runId}: no worker carries out the run`);
  const inList = (JSON.parse(listed.stdout) as RunFacts[]).find(({ run_id: id }) => id === runId);
  const alone = await system.hereAlone(['status', runId, '--json']);
  for (const facts of [inList, alone.facts()])
    expect(facts).toMatchObject({ reason_type: 'run.no-worker', next: `enrich resume ${runId}` });

  expect(await system.hereAlone(['pause', runId])).toMatchObject({ code: 0 });
  expect(await system.warehouse.query`select from attempts where status = 'admitted'`).toEqual([]);
  expect(system.sandbox.log.bill().calls).toBe(calls);
  const reason = expect.stringMatching(/^paused by \S+$/) as string;
  expect(await statusOf(runId)).toMatchObject({ status: 'paused', reason });
}

it('no person is billed twice although the process of the run is killed at each point of a call', async () => {
  const people = 200;
  const runs = () => system.warehouse.query`select run_id from runs`;
  const before = (await runs()).length;
  const run = ['run', system.sample(people), '--yes', '--json'];
  // The points are in the order of a call: each process gets one step further than the process before.
  for (const point of ['admitted:2', 'calling:3', 'answered:4']) await killAt(point, run);
  const runId = await latestRun();
  await expectPausable(runId);
  const resume = ['resume', runId, '--json'];
  await killAt('recorded:5', resume);
  const again = (await system.hereAlone(resume)).facts();
  expect(again.status).toBe('finished');
  expect(sum(again.outcomes)).toBe(people);
  expect(await runs()).toHaveLength(before + 1);
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});

describe('with a worker of a server', () => {
  beforeAll(() => system.startWorker());

  it('an empty day budget pauses a run before its first call until enrich budget set raises the budget', async () => {
    const calls = system.sandbox.log.bill().calls;
    expect((await system.here(['budget', 'set', 'day', 'used'])).code).toBe(0);
    const paused = await system.here(['run', system.sample(30), '--yes', '--json']);
    expect(paused.code).toBe(3);
    expect(paused.facts()).toMatchObject({
      status: 'paused',
      next: expect.stringContaining('enrich budget set day:'),
    });
    expect(system.sandbox.log.bill().calls).toBe(calls);
    const runId = paused.facts().run_id;
    expect(runId).toMatch(/^enrich-[a-z]+-contacts-\d+-\d{8}T\d{4}-[0-9a-f]{6}$/);
    const raised = await system.here(['budget', 'set', 'day', 'none', '--reason', 'trade fair']);
    expect(raised.stdout).toContain(`enrich resume ${runId}`);
    const resumed = await system.here(['resume', runId, '--json']);
    expect(resumed.facts()).toMatchObject({ status: 'finished' });
    await expectPromisesKept(system);
  });

  it('a pilot pauses the run after the people of the pilot; only enrich resume looks up the others', async () => {
    const command = ['run', system.sample(50), '--yes', '--json', '--pilot', '20'];
    const calls = system.sandbox.log.bill().calls;
    const piloted = await system.here(command);
    expect(piloted.code).toBe(3);
    expect(piloted.facts()).toMatchObject({ status: 'paused', calls: 2 });
    const { workflow } = await system.temporal();
    const handle = workflow.getHandle(piloted.facts().run_id);
    expectFiguresOf(await currentDetails(handle), piloted.facts());
    expect(await workflow.getHandle(`${piloted.facts().run_id}/page-1`).describe()).toMatchObject({
      priority: { priorityKey: 2, fairnessKey: 'hubspot' },
    });
    expect(piloted.facts().reason).toMatch(/^pilot of 20 people; \d+ of 20 found: /);
    const repeated = await system.here([...command, '--min-match-rate', '10%']);
    expect(repeated.facts()).toMatchObject({ status: 'paused', calls: 2 });
    expect(repeated.stderr).toContain('with its own options, and the quality gates of this command\n');
    expect(system.sandbox.log.bill().calls).toBe(calls + 2);
    const resumed = await system.here(['resume', piloted.facts().run_id, '--json']);
    expect(resumed.facts()).toMatchObject({ status: 'finished' });
    await expectPromisesKept(system);
  });

  it('enrich cancel ends a run without another call, and no command continues the run', async () => {
    const command = ['run', system.sample(50), '--yes', '--json', '--pilot', '20'];
    const runId = (await system.here(command)).facts().run_id;
    const calls = system.sandbox.log.bill().calls;
    expect((await system.here(['cancel', runId])).code).toBe(0);
    const { status, outcomes } = await statusOf(runId);
    expect(status).toBe('cancelled');
    expect(outcomes['open']).toBeUndefined();
    expect(outcomes['cancelled']).toBeGreaterThan(0);
    for (const refused of ['resume', 'pause', 'cancel'])
      expect(await system.here([refused, runId])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`error: run ${runId} has ended: it is cancelled\n`),
      });
    expect(system.sandbox.log.bill().calls).toBe(calls);
    await expectPromisesKept(system);
  });

  it('enrich status shows that a run has lost its workflow, and enrich resume continues the run', async () => {
    const command = ['run', system.sample(30), '--yes', '--json', '--max-credits', '12'];
    const { run_id: runId } = (await system.here([...command, '--on-budget', 'pause'])).facts();
    await system.terminateWorkflow(runId);
    const raised = await system.here(['budget', 'set', `run:${runId}`, 'none']);
    expect(raised.stdout).toContain(`without a worker: enrich resume ${runId}`);
    const next = `enrich resume ${runId}`;
    expect(await statusOf(runId)).toMatchObject({ status: 'paused', reason_type: 'workflow.ended', next });
    for (const words of [['status', runId], ['status']]) {
      const { stdout } = await system.here(words);
      expect(stdout).toMatch(new RegExp(`${runId}: interrupted|${runId} +interrupted`));
      expect(stdout).toContain(`the workflow ended before the run did: terminated\n  next: ${next}\n`);
      expect(stdout).not.toContain('a worker continues the run');
    }
    expect((await system.here(['resume', runId, '--json'])).facts()).toMatchObject({ status: 'finished' });
    await expectPromisesKept(system);
  });

  it('Ctrl-C in enrich run leaves a run of separate workers running, and the command says so', async () => {
    const limit = `${(await countedCalls()) + 1}/hour`;
    await system.startWorker({ RATE_LIMITS: limit });
    const before = system.sandbox.log.calls().length;
    const left = system.begin(['run', system.sample(40), '--yes', '--json']);
    await expect.poll(() => system.sandbox.log.calls().length, patient).toBe(before + 1);
    left.kill('SIGTERM');
    expect(await left.ended).toBe(3);
    const runId = await latestRun();
    const facts = JSON.parse(left.output().trim().split('\n').at(-1)!) as RunFacts;
    expect(facts).toMatchObject({ run_id: runId, status: 'running', reason_type: 'run.continues' });
    expect(facts.reason).toContain('continues on the workers');
    expect(facts.next).toContain(`enrich resume ${runId}`);
    expect(facts.next).toContain(`enrich pause ${runId}`);
    expect(left.output().match(/the run continues/g)).toHaveLength(2);
    expect((await statusOf(runId)).status).toBe('running');
    await system.here(['cancel', runId]);
    await expectPromisesKept(system);
  });
});
