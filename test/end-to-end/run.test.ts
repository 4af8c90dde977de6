import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 20, worker: true });

beforeEach(() => system.sandbox.faults.set({ rules: [] }));

/** What the sandbox has seen and billed since. */
function sinceNow(): () => { calls: number; credits: number } {
  const before = system.sandbox.log.bill();
  return () => {
    const { calls, credits } = system.sandbox.log.bill();
    return { calls: calls - before.calls, credits: Number(credits) - Number(before.credits) };
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** The report of a run in every form, written and printed. */
async function expectReports({ run_id: runId, outcomes }: RunFacts): Promise<void> {
  const json = await system.here(['report', runId, '--format', 'json']);
  const markdown = await system.here(['report', runId, '--format', 'markdown', '--output', '-']);
  const page = await system.here(['report', runId, '--output', 'report.html']);
  const nowhere = await system.here(['report', runId, '--output', '/proc/none/report.html']);
  expect(nowhere).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cannot be written: the folder does not exist (ENOENT)'),
  });
  expect([json.code, markdown.code, page.code]).toEqual([0, 0, 0]);
  expect(JSON.parse(json.stdout)).toMatchObject({ run: { run_id: runId }, outcomes });
  expect(markdown.stdout).toMatch(new RegExp(`^\\| enriched \\| ${outcomes['enriched']} \\|`, 'm'));
  expect(page.stdout).toBe('');
  expect(readFileSync(join(system.directory, 'report.html'), 'utf8')).toContain(runId);
}

describe('enrich run', () => {
  it('enrich run enriches an export; rows, calls and credits add up; a second run asks for no person', async () => {
    const file = system.sample(100);
    const bill = sinceNow();
    const first = await system.enrich(['run', file, '--yes', '--json']);
    const facts = first.facts();
    expect(first.code).toBe(0);
    expect(facts).toMatchObject({
      status: 'finished',
      rows: 100,
      source: 'hubspot',
      calls: bill().calls,
    });
    expect(sum(facts.outcomes)).toBe(100);
    expect(facts.credits).toEqual({ settled: String(bill().credits), reserved: '0', unknown: '0' });
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(system);

    const again = (await system.here(['run', file, '--yes', '--json'])).facts();
    expect(again).toMatchObject({ status: 'finished', calls: 0, credits: { settled: '0' } });
    expect(again.outcomes['enriched']).toBeUndefined();
    expect(sum(again.outcomes)).toBe(100);
    expect(JSON.parse((await system.here(['status', again.run_id, '--json'])).stdout)).toEqual(again);

    await expectReports(facts);
  });

  it('enrich run never spends more than --max-credits; a later run asks for the rest', async () => {
    const file = system.sample(70);
    const bill = sinceNow();
    const short = await system.here(['run', file, '--yes', '--json', '--max-credits', '25']);
    expect(short.code).toBe(3);
    expect(bill().credits).toBe(25);
    expect(short.facts().outcomes['over_budget']).toBeGreaterThan(10);
    await expectPromisesKept(system);

    const later = await system.here(['run', file, '--yes', '--json']);
    expect(later.code).toBe(0);
    expect(later.facts().outcomes['over_budget']).toBeUndefined();
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(system);
  });

  it('enrich run spends nothing without a terminal and without --yes', async () => {
    const bill = sinceNow();
    const planned = await system.here(['run', system.sample(50), '--json']);
    expect(planned.code).toBe(3);
    expect(JSON.parse(planned.stdout)).toMatchObject({
      rows: 50,
      plan_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(bill().calls).toBe(0);
  });

  it.each(['planning', 'paused'])(
    'enrich run asks on a terminal before it spends, with a plan left %s and without a workflow',
    async (status) => {
      const file = system.sample(30);
      const bill = sinceNow();
      const left = await system.answerPrompts(['run', file], '\u0003');
      expect(left.shown).not.toContain('awaiting approval');
      const runId = /run (\S+)/.exec(left.shown)![1]!;
      await system.terminateWorkflow(runId);
      const pauseReason = { type: 'run.paused', reason: 'a test', next: 'none' };
      await system.warehouse.pool.query(`update runs set status = $2, pause_reason = $3 where run_id = $1`, [
        runId,
        status,
        status === 'paused' ? pauseReason : null,
      ]);
      const again = await system.answerPrompts(['run', file], 'n\n');
      expect(again.shown).toContain(`continuing ${runId}`);
      expect(again.shown).toContain('[y/N]');
      expect(bill().calls).toBe(0);
      const [run] = JSON.parse((await system.here(['status', '--json'])).stdout) as RunFacts[];
      expect(run).toMatchObject({ run_id: runId, status: 'cancelled' });
    },
  );

  it('enrich run --plan runs exactly the shown plan, or nothing', async () => {
    const file = system.sample(50);
    const plan = JSON.parse((await system.here(['plan', file, '--json'])).stdout) as { plan_hash: string };
    const other = await system.here(['run', file, '--yes', '--json', '--plan', '0000000000000000']);
    expect(other.code).toBe(2);
    expect(other.facts()).toMatchObject({ status: 'failed', calls: 0 });
    const gated = ['--pilot', '5', '--min-match-rate', '90%', '--plan', plan.plan_hash];
    const more = await system.here(['run', file, '--yes', '--json', ...gated]);
    expect(more.facts()).toMatchObject({ status: 'failed', reason_type: 'plan.changed', calls: 0 });
    const same = await system.here(['run', file, '--yes', '--json', '--plan', plan.plan_hash]);
    expect(same.facts()).toMatchObject({ status: 'finished', plan_hash: plan.plan_hash });
  });

  it('enrich run --plan does not continue an unfinished run with another plan', async () => {
    const file = system.sample(40);
    system.sandbox.faults.set({ rules: [{ status: 401, from: 2 }] });
    const paused = (await system.here(['run', file, '--yes', '--json'])).facts();
    expect(paused.status).toBe('paused');
    system.sandbox.faults.set({ rules: [] });
    const bill = sinceNow();
    const other = await system.here(['run', file, '--yes', '--json', '--plan', '0000000000000000']);
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`enrich resume ${paused.run_id}`),
    });
    expect(bill().calls).toBe(0);
    const same = await system.here(['run', file, '--yes', '--json', '--plan', paused.plan_hash!]);
    expect(same.facts()).toMatchObject({ run_id: paused.run_id, status: 'finished' });
  });
});

it('enrich run does not continue a run that a person has paused, and enrich resume does', async () => {
  const file = system.sample(40);
  system.sandbox.faults.set({ rules: [{ status: 401, from: 2 }] });
  const { run_id: runId } = (await system.here(['run', file, '--yes', '--json'])).facts();
  system.sandbox.faults.set({ rules: [] });
  const byPerson = { type: 'run.paused', reason: 'wrong file?', next: `enrich resume ${runId}` };
  await system.warehouse.query`update runs set pause_reason = ${byPerson} where run_id = ${runId}`;
  const bill = sinceNow();
  const again = await system.here(['run', file, '--yes', '--json']);
  expect(again.facts()).toMatchObject({ run_id: runId, status: 'paused', reason: 'wrong file?' });
  expect(again.code).toBe(3);
  expect(bill().calls).toBe(0);
  expect((await system.here(['resume', runId, '--json'])).facts()).toMatchObject({ status: 'finished' });
});

it.each([
  ['weekly', 'begun with --yes'],
  ['monthly', 'begun on a terminal, without an approval'],
])(
  'an unexpected export pauses its run before a call, and --yes does not accept it (%s, %s)',
  async (source, begun) => {
    const options = ['--source', source, '--expect', 'rows=50%..150%'];
    const first = await system.here(['run', system.sample(20), ...options, '--yes', '--json']);
    expect(first.facts().status).toBe('finished');
    const command = ['run', system.sample(60), ...options, '--only', 'City in Lyon,malmö'];
    command.push('--order-by', 'City', 'desc');
    const bill = sinceNow();
    if (begun !== 'begun with --yes') await system.answerPrompts(command);
    const paused = await system.here([...command, '--yes', '--json']);
    expect(paused.code).toBe(3);
    expect(paused.facts()).toMatchObject({
      status: 'paused',
      reason_type: 'expectation.unmet',
      reason: expect.stringContaining('60 rows: expected at most 30') as string,
    });
    const again = await system.here([...command, '--yes', '--json']);
    expect(again.facts()).toMatchObject({ run_id: paused.facts().run_id, status: 'paused' });
    expect(bill().calls).toBe(0);
    const accepted = (await system.here(['resume', paused.facts().run_id, '--json'])).facts();
    expect(accepted.status).toBe('finished');
    expect(accepted.outcomes['cancelled']).toBeGreaterThan(0);
    expect(sum(accepted.outcomes)).toBe(60);
    await expectPromisesKept(system);
  },
);

it('enrich plan does not change an unfinished run of the same file', async () => {
  const file = system.sample(60);
  system.sandbox.faults.set({ rules: [{ status: 401, from: 3 }] });
  const paused = await system.here(['run', file, '--yes', '--json']);
  expect(paused.facts().status).toBe('paused');
  const planned = await system.here(['plan', file, '--json']);
  expect(JSON.parse(planned.stdout)).toMatchObject({ rows: 60, calls: expect.any(Number) });
  expect(JSON.parse((await system.here(['status', paused.facts().run_id, '--json'])).stdout)).toEqual(
    paused.facts(),
  );
  system.sandbox.faults.set({ rules: [] });
  const again = await system.here(['run', file, '--yes', '--json']);
  expect(again.stderr).toMatch(/plan [0-9a-f]+, made on \d{4}-/);
  const resumed = again.facts();
  expect(resumed).toMatchObject({ run_id: paused.facts().run_id, status: 'finished' });
  await expectPromisesKept(system);
});

describe('what comes back in another shape', () => {
  const shapes = ['null', 'drop', 'reverse', 'rotate', 'stub', 'foreign', 'short', 'duplicate'] as const;

  it("no person gets another person's data from answers of other shapes", async () => {
    // Ten people, which are a call, for each shape: the name of the shape in their last names selects the fault. The
    // sandbox returns namesakes of some people of other names, who are a mismatch in any order.
    const people = shapes.flatMap((shape) =>
      Array.from(
        { length: 10 },
        (_, index) => `Cara,${shape}berg${index},cara.${shape}berg${index}@works${index}.example`,
      ),
    );
    const file = join(system.directory, 'shapes.csv');
    writeFileSync(file, `first_name,last_name,email\n${people.join('\n')}\n`);
    system.sandbox.faults.set({
      rules: shapes.map((matches) => ({ matches, containing: `${matches}berg` })),
    });
    const facts = (await system.here(['run', file, '--yes', '--json'])).facts();
    expect(facts).toMatchObject({ status: 'finished', calls: shapes.length });
    expect(sum(facts.outcomes)).toBe(people.length);
    const rows = await system.warehouse.query<{ shape: string; outcomes: string[] }>`
      select split_part(last_name, 'berg', 1) as shape, array_agg(distinct outcome) as outcomes
      from enrichment.run_rows where run_id = ${facts.run_id} group by 1`;
    const outcomesOf = Object.fromEntries(rows.map(({ shape, outcomes }) => [shape, outcomes]));
    expect(Object.keys(outcomesOf).toSorted()).toEqual(shapes.toSorted());
    expect(outcomesOf['foreign']).not.toContain('enriched');
    for (const reordered of ['reverse', 'rotate']) {
      expect(outcomesOf[reordered]).toContain('enriched');
      expect(outcomesOf[reordered]).not.toContain('identity_mismatch');
    }
    await expectPromisesKept(system);
  });
});

describe('what the service does wrong', () => {
  it('a refused key, a plan without the endpoint and a lack of credits pause the run; resume continues', async () => {
    let command = ['run', system.sample(60), '--yes', '--json'];
    const reasons = new Set<string | null | undefined>();
    for (const status of [401, 403, 402]) {
      system.sandbox.faults.set({ rules: [{ from: 2, status }] });
      const paused = await system.here(command);
      expect(paused.code).toBe(3);
      expect(paused.facts()).toMatchObject({
        status: 'paused',
        reason: expect.any(String),
        next: expect.any(String),
      });
      reasons.add(paused.facts().reason_type);
      command = ['resume', paused.facts().run_id, '--json'];
    }
    expect(reasons.size).toBe(3);
    system.sandbox.faults.set({ rules: [] });
    const resumed = await system.here(command);
    expect(resumed.code).toBe(0);
    expect(resumed.facts().status).toBe('finished');
    expect(sum(resumed.facts().outcomes)).toBe(60);
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(system);
  });

  it('a call is unknown and not repeated after HTML, a cut body, a reset, a billed 502 or a bad price', async () => {
    const faults = [
      { answer: 'html' },
      { answer: 'cut' },
      { answer: 'reset' },
      { status: 502 },
      { credits: 'missing' },
      { credits: 'negative' },
      { credits: 'text' },
    ] as const;
    system.sandbox.faults.set({
      rules: faults.map((fault, index) => ({ from: index + 2, to: index + 2, ...fault })),
    });
    const { run_id: runId, credits } = (
      await system.here(['run', system.sample(150), '--yes', '--json'])
    ).facts();
    expect(Number(credits.unknown)).toBeGreaterThan(0);
    const rows = await system.warehouse.query`
      select count(*)::int as unknown
      from enrichment.attempts where run_id = ${runId} and status = 'unknown'`;
    expect(rows).toEqual([{ unknown: faults.length }]);
    expect(system.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(system);
  });
});

describe('payloads that are encrypted', () => {
  const settings = { TEMPORAL_CODEC_KEYS: `2026-11:${randomBytes(32).toString('base64')}` };

  beforeAll(() => system.startWorker(settings));

  it('a run with encrypted payloads finishes, and commands with the key read it', async () => {
    const ended = await system.here(['run', system.sample(30), '--yes', '--json'], settings);
    expect(ended.code).toBe(0);
    const { run_id: runId, calls } = ended.facts();
    expect(calls).toBeGreaterThan(0);
    const stored = await system.storedPayloads(runId);
    expect(stored.length).toBeGreaterThan(5);
    expect(new Set(stored)).toEqual(new Set(['binary/encrypted']));
    await expectPromisesKept(system);
  });

  it('encrypted payloads keep commands with other keys from steering a run, and the run as it is', async () => {
    const begin = ['run', system.sample(10), '--yes', '--json', '--max-credits', '1', '--on-budget', 'pause'];
    const { run_id: runId, ...paused } = (await system.here(begin, settings)).facts();
    expect(paused.status).toBe('paused');
    const other = randomBytes(32).toString('base64');
    for (const command of ['pause', 'cancel', 'resume']) {
      const without = await system.here([command, runId]);
      expect(without.stderr).toContain('encrypted with key "2026-11", which is not set here');
      expect(without.stderr).toContain(
        'next:  give every worker, receiver and command the same TEMPORAL_CODEC_KEYS',
      );
      expect(without.code).toBe(2);
      const wrong = await system.here([command, runId], { TEMPORAL_CODEC_KEYS: `2026-11:${other}` });
      expect(wrong.stderr).toContain('cannot be decrypted with the key "2026-11"');
      expect(wrong.code).toBe(2);
    }
    expect((await system.here(['status', runId, '--json'])).facts()).toMatchObject(paused);
    expect((await system.here(['cancel', runId], settings)).code).toBe(0);
  });

  it('encrypted payloads hide the reason of a failed run from Temporal, and not from the command', async () => {
    const command = ['run', system.sample(30), '--yes', '--json', '--plan', '0123456789abcdef'];
    const failed = (await system.here(command, settings)).facts();
    expect(failed).toMatchObject({ status: 'failed', reason: expect.stringContaining('and not 01234567') });
    // The command has read the status before the workflow closes.
    const hasEnded = async () => (await system.storedHistory(failed.run_id)).includes('Encoded failure');
    await expect.poll(hasEnded).toBe(true);
    expect(await system.storedHistory(failed.run_id)).not.toContain('and not');
  });
});
