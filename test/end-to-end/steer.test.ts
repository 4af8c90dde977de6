import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { pauseByPerson } from '../../src/contract/pause-reasons.ts';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { setRunStatus } from '../../src/runs/runs.ts';
import type { RunProgress } from '../../workflows/messages.ts';
import { bulkMatchScope } from '../../src/ledger/rate-windows.ts';
import { announce, withdraw } from '../../src/dev/presence.ts';
import { expectFiguresOf } from '../helpers/temporal/current-details.ts';
import { untilStatus } from '../helpers/temporal/play-run.ts';
import { resetToBeginning } from '../helpers/temporal/temporal-actions.ts';
import { TestSystem, type Begun } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const patient = { interval: 50 };

const system = await TestSystem.ofFile({ latency: 30 });

/** A run that was killed in the middle of its calls. */
async function killedRun(): Promise<string> {
  await system.enrich(['run', system.sample(80), '--yes', '--json'], {
    ENRICH_KILL_AT: 'answered:4',
    ENRICH_HEARTBEAT_SECONDS: '3',
  });
  return latestRun();
}

async function latestRun(): Promise<string> {
  const rows = await system.warehouse.query<{ run_id: string }>`
    select run_id from enrichment.runs order by created_at desc limit 1`;
  return rows[0]!.run_id;
}

/** Bulk calls in the rate windows; polls have windows of their own. */
async function countedCalls(): Promise<number> {
  const rows = await system.warehouse.query<{ calls: number }>`
    select count(*)::int as calls from enrichment.rate_calls where scope = ${bulkMatchScope}`;
  return rows[0]!.calls;
}

/** Begins a command, and waits until it waits to read the migrations, which its session does first. */
async function begunBehindLock(command: readonly string[]): Promise<Begun & { unlock: () => Promise<void> }> {
  const { pool } = system.warehouse;
  const table = 'enrichment.kysely_migration';
  const holder = await pool.connect();
  await holder.query(`begin; lock table ${table} in access exclusive mode`);
  const begun = system.begin(command, { ENRICH_DATA_DIR: join(system.directory, 'signalled') });
  const isWaiting = async (): Promise<boolean> =>
    (await pool.query(`select from pg_locks where relation = '${table}'::regclass and not granted`))
      .rowCount === 1;
  await expect.poll(isWaiting, patient).toBe(true);
  const unlock = async (): Promise<void> => {
    await holder.query('rollback');
    holder.release();
  };
  return { ...begun, unlock };
}

async function statusOf(runId: string): Promise<RunFacts> {
  return (await system.here(['status', runId, '--json'])).facts();
}

it('enrich run begins no run when Temporal has no such namespace', async () => {
  const countRuns = async (): Promise<unknown> =>
    (await system.warehouse.query`select count(*)::int as runs from enrichment.runs`)[0]?.runs;
  const before = await countRuns();
  const ended = await system.here(['run', system.sample(10), '--yes'], { TEMPORAL_NAMESPACE: 'missing' });
  expect(ended.stderr).toContain('error: Temporal has no namespace "missing"\n');
  expect(ended.code).toBe(2);
  expect(await countRuns()).toBe(before);
});

describe('cancelling', () => {
  it('enrich cancel ends a killed run without another call, and no command continues the run', async () => {
    const runId = await killedRun();
    const calls = system.sandbox.log.bill().calls;
    const cancelled = await system.hereAlone(['cancel', runId]);
    expect(cancelled.code).toBe(0);
    expect(system.sandbox.log.bill().calls).toBe(calls);
    const { status, outcomes } = await statusOf(runId);
    expect(status).toBe('cancelled');
    expect(outcomes['open']).toBeUndefined();
    expect(outcomes['cancelled']).toBeGreaterThan(0);
    for (const command of ['resume', 'pause', 'cancel']) {
      const refused = await system.here([command, runId]);
      expect(refused.stderr).toContain(`error: run ${runId} has ended: it is cancelled\n`);
      expect(refused.stderr).toContain('next:  nothing is left to do; the same file can be run again');
      expect(refused.code).toBe(2);
    }
    await expectPromisesKept(system);
  });
});

describe('pausing', () => {
  it('a signal at once ends enrich run with 3 and facts, and a worker of another command makes no call', async () => {
    const command = ['run', system.sample(70), '--yes', '--json'];
    const begun = system.begin(command);
    await expect.poll(begun.output, { interval: 2 }).toMatch(/^run enrich-/m);
    begun.kill('SIGTERM');
    expect(await begun.ended).toBe(3);
    const runId = await latestRun();
    expect(begun.output()).toContain(`{"run_id":"${runId}"`);
    const interrupted = await statusOf(runId);
    expect(interrupted).toMatchObject({ status: 'paused', reason_type: 'run.interrupted' });

    expect((await system.hereAlone(['run', system.sample(20), '--yes'])).code).toBe(0);
    expect(await statusOf(runId)).toMatchObject({ status: 'paused', calls: interrupted.calls });

    const again = await system.hereAlone(command);
    expect(again.code).toBe(0);
    expect(again.facts()).toMatchObject({ run_id: runId, status: 'finished' });
    await expectPromisesKept(system);
  });

  it('a signal ends enrich run with 143 before its run begins, then with 3, and a second signal at once', async () => {
    const calls = () => system.sandbox.log.calls().length;
    const count = async (table: string): Promise<number> => {
      const found = await system.warehouse.pool.query<{ rows: number }>(
        `select count(*)::int as rows from enrichment.${table}`,
      );
      return found.rows[0]!.rows;
    };
    const runs = await count('runs');
    const ofFile = ['run', system.sample(60), '--yes'];
    const command = [...ofFile, '--json'];
    const early = await begunBehindLock(command);
    early.kill('SIGTERM');
    expect(await early.ended).toBe(143);
    await early.unlock();
    expect(early.output()).toContain('"exit_code":143');
    expect(await count('runs')).toBe(runs);

    // Calls of the tests above are in the window.
    const limits = ['--rate-limits', `${(await countedCalls()) + 2}/hour`];
    const before = calls();
    const interrupted = system.begin([...ofFile, ...limits]);
    await expect.poll(calls, patient).toBe(before + 2);
    interrupted.kill('SIGINT');
    expect(await interrupted.ended).toBe(3);
    const runId = await latestRun();
    expect(interrupted.output()).toContain('stopping: no further call is sent');
    expect(interrupted.output()).toMatch(
      new RegExp(`run ${runId}: paused[^]*interrupted[^]*enrich resume ${runId}`),
    );
    expect(await statusOf(runId)).toMatchObject({
      status: 'paused',
      reason_type: 'run.interrupted',
      calls: 2,
      credits: { reserved: '0', unknown: '0' },
    });

    const twice = system.begin([...command, ...limits]);
    await expect.poll(twice.output, patient).toContain('enriching');
    twice.kill('SIGINT');
    twice.kill('SIGTERM');
    // The system may deliver the second signal first.
    expect([130, 143]).toContain(await twice.ended);
    expect(twice.output()).toContain(`continuing ${runId}`);
    expect(await count('runs')).toBe(runs + 1);
    // The workflow waits for the hour of the rate limit.
    expect((await system.hereAlone(['cancel', runId])).code).toBe(0);
    await expectPromisesKept(system);
  });

  it('enrich pause holds a killed run and records its calls', async () => {
    const runId = await killedRun();
    const calls = system.sandbox.log.bill().calls;
    const killed = await system.hereAlone(['status', runId.slice(-6)]);
    expect(killed.stdout).toContain(`run ${runId}: interrupted`);
    expect(killed.stdout).toContain('no worker carries out the run');
    expect(killed.stdout).toMatch(/\d+ calls? had no recorded answer: the credits stay reserved/);
    expect(killed.stdout).toContain(`next: enrich resume ${runId}`);
    const listed = await system.hereAlone(['status', '--json']);
    expect(listed.stderr).toContain(`${runId}: no worker carries out the run`);
    const inList = (JSON.parse(listed.stdout) as RunFacts[]).find(({ run_id: id }) => id === runId);
    const alone = await system.hereAlone(['status', runId, '--json']);
    for (const facts of [inList, alone.facts()])
      expect(facts).toMatchObject({ reason_type: 'run.no-worker', next: `enrich resume ${runId}` });
    const workers = join(system.directory, 'state', 'workers');
    const mark = announce(workers);
    const working = await system.hereAlone(['status', runId]);
    expect(working.stdout).toContain(`run ${runId}: running`);
    expect(working.stdout).toMatch(new RegExp(`watch it: http.*/workflows/${runId}/[^/]+/user-metadata`));
    withdraw(workers, mark);
    expect(await system.hereAlone(['pause', runId])).toMatchObject({ code: 0 });
    const inFlight = `select count(*)::int as calls from enrichment.attempts where status = 'admitted'`;
    expect((await system.warehouse.pool.query(inFlight)).rows).toEqual([{ calls: 0 }]);
    expect(system.sandbox.log.bill().calls).toBe(calls);
    const reason = expect.stringMatching(/^paused by \S+$/) as string;
    expect(await statusOf(runId)).toMatchObject({ status: 'paused', reason });
    const again = await system.hereAlone(['pause', runId, '--reason', 'another reason']);
    expect(again.stdout).toContain('already paused, and the reason stays: paused by');
    expect(again.code).toBe(0);
    expect(await statusOf(runId)).toMatchObject({ status: 'paused', reason });

    const resumed = await system.hereAlone(['resume', runId, '--json']);
    expect(resumed.facts()).toMatchObject({ status: 'finished' });
    expectFiguresOf(await system.details(runId), resumed.facts());
    await expectPromisesKept(system);
  });
});

it('--on-unknown retry asks once more for people of a call whose answer was lost', async () => {
  const command = ['run', system.sample(80), '--yes', '--json', '--on-unknown', 'retry'];
  await system.enrich(command, { ENRICH_KILL_AT: 'answered:4', ENRICH_HEARTBEAT_SECONDS: '3' });
  await system.startWorker();
  const again = await system.here(command);
  await system.stopWorker();
  expect(again.facts().outcomes['unknown']).toBeUndefined();
  expect(Number(again.facts().credits.unknown)).toBeGreaterThan(0);
  await expectPromisesKept(system);
});

it('an empty day budget pauses a run until a command raises it', async () => {
  const calls = system.sandbox.log.bill().calls;
  expect((await system.here(['budget', 'set', 'day', 'used'])).code).toBe(0);
  const paused = await system.hereAlone(['run', system.sample(30), '--yes', '--json']);
  expect(paused.code).toBe(3);
  expect(paused.facts()).toMatchObject({
    status: 'paused',
    next: expect.stringContaining('enrich budget set day:'),
  });
  expect(system.sandbox.log.bill().calls).toBe(calls);
  const runId = paused.facts().run_id;
  expect(runId).toMatch(/^enrich-[a-z]+-contacts-\d+-\d{8}T\d{4}-[0-9a-f]{6}$/);
  const waiting = await system.details(runId);
  expectFiguresOf(waiting, paused.facts());
  expect(waiting).toMatchObject({
    status: 'paused',
    'why it waits': paused.facts().reason,
    'pages done': '0 of 1',
  });
  const notEnough = await system.hereAlone(['budget', 'set', 'day', 'used']);
  expect(notEnough.stdout).toContain(`${runId} still waits`);
  const raised = await system.hereAlone(['budget', 'set', 'day', 'none', '--reason', 'trade fair']);
  expect(raised.stdout).toContain(`enrich resume ${runId}`);
  const status = await system.hereAlone(['status', runId]);
  expect(status.stdout).toContain(
    'a budget was empty, and has credits again: the run has not continued yet\n' +
      `  next: enrich resume ${runId}`,
  );
  expect(status.stdout).not.toContain('interrupted');
  const resumed = await system.hereAlone(['resume', runId, '--json']);
  expect(resumed.facts()).toMatchObject({ status: 'finished' });
  const finished = await system.details(runId);
  expectFiguresOf(finished, resumed.facts());
  expect(finished).toMatchObject({ status: 'finished', 'pages done': '1 of 1' });
  await expectPromisesKept(system);
});

describe('with a worker of a server', () => {
  beforeAll(() => system.startWorker());

  it('a signal to enrich run beside separate workers says that the run continues, and pauses no run', async () => {
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
    await system.startWorker();
    await expectPromisesKept(system);
  });

  it('a pilot is asked for first, and the rest when a person resumes, not when the command is repeated', async () => {
    const command = ['run', system.sample(50), '--yes', '--json', '--pilot', '20'];
    const calls = system.sandbox.log.bill().calls;
    const piloted = await system.here(command);
    expect(piloted.code).toBe(3);
    expect(piloted.facts()).toMatchObject({ status: 'paused', calls: 2 });
    expectFiguresOf(await system.details(piloted.facts().run_id), piloted.facts());
    expect(piloted.facts().reason).toMatch(/^pilot of 20 people; \d+ of 20 found: /);
    const repeated = await system.here([...command, '--min-match-rate', '10%']);
    expect(repeated.facts()).toMatchObject({ status: 'paused', calls: 2 });
    expect(repeated.stderr).toContain('the run has --min-match-rate 10% from now on, before: none\n');
    expect(system.sandbox.log.bill().calls).toBe(calls + 2);
    const resumed = await system.here(['resume', piloted.facts().run_id, '--json']);
    expect(resumed.facts()).toMatchObject({ status: 'finished' });
    await expectPromisesKept(system);
  });

  it('a reset in the Temporal UI asks for no further person of a run that waits for a decision', async () => {
    await system.here(['budget', 'set', 'day', 'used']);
    const { run_id: runId } = (
      await system.here(['run', system.sample(50), '--yes', '--json', '--pilot', '20'])
    ).facts();
    const temporal = await system.temporal();
    // Temporal sends this update again after the reset.
    await temporal.workflow.getHandle(runId).executeUpdate('resume');
    await system.here(['budget', 'set', 'day', 'none']);
    const piloted = (await system.here(['resume', runId, '--json'])).facts();
    expect(piloted).toMatchObject({ status: 'paused', reason_type: 'pilot.done' });
    const { calls } = system.sandbox.log.bill();
    await untilStatus(await resetToBeginning(temporal, piloted.run_id), 'paused');
    expect(await statusOf(piloted.run_id)).toMatchObject({ status: 'paused', reason_type: 'pilot.done' });
    expect(system.sandbox.log.bill().calls).toBe(calls);
    const resumed = await system.here(['resume', piloted.run_id, '--json']);
    expect(resumed.facts()).toMatchObject({ status: 'finished' });
    await expectPromisesKept(system);
  });

  it('enrich status says that a run has lost its workflow, and enrich resume continues the run', async () => {
    const command = [
      'run',
      system.sample(30),
      '--yes',
      '--json',
      '--max-credits',
      '12',
      '--on-budget',
      'pause',
    ];
    const { run_id: runId } = (await system.here(command)).facts();
    await system.terminateWorkflow(runId);
    const raised = await system.here(['budget', 'set', `run:${runId}`, 'none']);
    expect(raised.stdout).toContain(`continue it with: enrich resume ${runId}`);
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

  it('a pilot on a terminal asks for no other person after a no, and can be resumed', async () => {
    const { code, shown } = await system.answerPrompts(
      ['run', system.sample(50), '--pilot', '20'],
      'y\n',
      'n\n',
    );
    expect(shown).toMatch(/pilot of 20 people; \d+ of 20 found: /);
    expect(shown.split('continue with the other people? [y/N]')).toHaveLength(2);
    expect(code).toBe(3);
    const run = await statusOf(await latestRun());
    const next = expect.stringContaining('enrich resume');
    expect(run).toMatchObject({ status: 'paused', calls: 2, next });
    const resumed = await system.here(['resume', run.run_id, '--json']);
    expect(resumed.facts()).toMatchObject({ status: 'finished' });
    await expectPromisesKept(system);
  });

  it('enrich resume of a run that was paused before its approval awaits the approval of its plan', async () => {
    const file = system.sample(40);
    await system.answerPrompts(['run', file]);
    const runId = await latestRun();
    await setRunStatus(
      system.warehouse,
      runId,
      'paused',
      pauseByPerson(runId, { by: 'anna', reason: 'not before Monday' }),
    );
    const handle = (await system.temporal()).workflow.getHandle(runId);
    await handle.executeUpdate('raiseBudget', { args: ['500'] });
    expect(await handle.query<RunProgress>('progress')).toMatchObject({ status: 'paused' });
    const resumed = await system.here(['resume', runId]);
    expect(resumed).toMatchObject({ code: 3, stdout: expect.stringContaining('waits for your approval') });
    expect(await statusOf(runId)).toMatchObject({ status: 'awaiting_approval', calls: 0 });
    const asked = await system.here(['approve', runId]);
    expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining('the plan was not approved') });
    expect(await statusOf(runId)).toMatchObject({ status: 'awaiting_approval', calls: 0 });
    expect(await system.here(['approve', runId, '--yes'])).toMatchObject({ code: 0 });
    expect(await statusOf(runId)).toMatchObject({ status: 'finished' });
  });
});
