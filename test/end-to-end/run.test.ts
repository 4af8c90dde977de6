import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { sum, TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 20, worker: true });

beforeEach(() => system.sandbox.faults.set({ rules: [] }));

/** Returns a function that tells the calls and credits of the sandbox since now. */
function sinceNow(): () => { calls: number; credits: number } {
  const before = system.sandbox.log.bill();
  return () => {
    const { calls, credits } = system.sandbox.log.bill();
    return { calls: calls - before.calls, credits: Number(credits) - Number(before.credits) };
  };
}

/** Expects that enrich report writes the run as JSON, Markdown and HTML. */
async function expectReports({ run_id: runId, outcomes }: RunFacts): Promise<void> {
  const json = await system.here(['report', runId, '--format', 'json']);
  const markdown = await system.here(['report', runId, '--format', 'markdown', '--output', '-']);
  const page = await system.here(['report', runId, '--output', 'report.html']);
  expect([json.code, markdown.code, page.code]).toEqual([0, 0, 0]);
  expect(JSON.parse(json.stdout)).toMatchObject({ run: { run_id: runId }, outcomes });
  expect(markdown.stdout).toMatch(new RegExp(`^\\| enriched +\\| +${outcomes['enriched']} \\|`, 'm'));
  expect(page.stdout).toBe('');
  expect(readFileSync(join(system.directory, 'report.html'), 'utf8')).toContain(runId);
}

it('enrich run enriches an export with counts that equal the bill, and a second run makes no calls', async () => {
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

it('enrich run never spends more than --max-credits, and a later run enriches the remaining people', async () => {
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

it('enrich run makes no call without --yes, and makes no call after the answer no', async () => {
  const file = system.sample(50);
  const bill = sinceNow();
  const planned = await system.here(['run', file, '--json']);
  expect(planned.code).toBe(3);
  expect(JSON.parse(planned.stdout)).toMatchObject({
    rows: 50,
    plan_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  const asked = await system.answerPrompts(['run', file], 'n\n');
  expect(asked.shown).toContain('[y/N]');
  const [run] = JSON.parse((await system.here(['status', '--json'])).stdout) as RunFacts[];
  expect(run).toMatchObject({ status: 'cancelled', calls: 0 });
  expect(bill().calls).toBe(0);
});

it('enrich approve continues a run that Ctrl-C left waiting for approval', async () => {
  const left = await system.answerPrompts(['run', system.sample(20)], '\u0003');
  expect(left).toMatchObject({ code: 3, shown: expect.stringContaining('next: enrich approve') as string });
  const approved = await system.answerPrompts(['approve', 'latest'], 'y\n');
  expect(approved.code).toBe(0);
  expect(approved.shown).toMatch(/name +title +employer +e-mail +phone/);

  const again = await system.here(['resume', 'latest', '--quiet']);
  expect(again).toMatchObject({ stderr: '', stdout: expect.stringContaining('enriched') as string });
  expect(again.stdout).not.toMatch(/@|employer/);
});

it('enrich run continues an unfinished run of the file, but not if the operator paused the run', async () => {
  const file = system.sample(40);
  const run = ['run', file, '--yes', '--json'];
  system.sandbox.faults.set({ rules: [{ status: 401, from: 2 }] });
  const paused = (await system.here(run)).facts();
  expect(paused.status).toBe('paused');
  system.sandbox.faults.set({ rules: [] });
  const bill = sinceNow();
  const runId = paused.run_id;
  expect(JSON.parse((await system.here(['plan', file, '--json'])).stdout)).toMatchObject({ rows: 40 });
  expect((await system.here(['status', runId, '--json'])).facts()).toEqual(paused);
  const other = await system.here([...run, '--plan', '0000000000000000']);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining(`enrich resume ${runId}`) });
  const byOperator = { type: 'run.paused', reason: 'wrong file?', next: `enrich resume ${runId}` };
  await system.warehouse.query`update runs set pause_reason = ${byOperator} where run_id = ${runId}`;
  const again = await system.here(run);
  expect(again.code).toBe(3);
  expect(again.facts()).toMatchObject({ run_id: runId, status: 'paused', reason: 'wrong file?' });
  expect(bill().calls).toBe(0);
  const resumed = (await system.here(['resume', runId, '--json'])).facts();
  expect(resumed).toMatchObject({ run_id: runId, status: 'finished' });
  await expectPromisesKept(system);
});

it('an export that misses --expect pauses its run before the first call, even with --yes', async () => {
  const options = ['--source', 'weekly', '--expect', 'rows=50%..150%', '--yes', '--json'];
  expect((await system.here(['run', system.sample(20), ...options])).facts().status).toBe('finished');
  const command = ['run', system.sample(60), ...options, '--only', 'City in Lyon,malmö'];
  const bill = sinceNow();
  for (let time = 1; time <= 2; time += 1) {
    const paused = await system.here(command);
    expect(paused.code).toBe(3);
    expect(paused.facts()).toMatchObject({
      status: 'paused',
      reason_type: 'expectation.unmet',
      reason: expect.stringContaining('60 rows: expected at most 30') as string,
    });
  }
  expect(bill().calls).toBe(0);
  const accepted = (await system.here(['resume', 'latest', '--json'])).facts();
  expect(accepted.status).toBe('finished');
  expect(sum(accepted.outcomes)).toBe(60);
  await expectPromisesKept(system);
});

/** Writes an export of an unknown CRM: the same record ids for every seed, and other people for each seed. */
function genericExport(name: string, seed: number): string {
  const file = join(system.directory, name);
  const text = [...sampleExport({ people: 12, seed })].join('');
  writeFileSync(file, text.replace('Record ID', 'id'));
  return file;
}

it('a contact is filled without a call if another source has already paid for the person', async () => {
  const file = genericExport('one.csv', 71);
  const paid = (await system.here(['run', file, '--yes', '--json'])).facts();
  const people = paid.outcomes['enriched']!;
  expect(people).toBeGreaterThan(3);
  const refused = await system.here(['run', genericExport('other.csv', 72), '--yes']);
  expect(refused).toMatchObject({ code: 2, stdout: expect.stringContaining('--source NAME') });

  const named = [file, '--source', 'events', '--json'];
  const planned = JSON.parse((await system.here(['plan', ...named])).stdout) as { filled: number };
  const bill = sinceNow();
  const filled = (await system.here(['run', ...named, '--yes'])).facts();
  expect(filled).toMatchObject({ calls: 0, filled: planned.filled });
  expect(bill().calls).toBe(0);
  const contacts = await system.warehouse.query`
    select source, count(*)::int as contacts, count(distinct (person_id, title))::int as people
    from enriched_contacts where source in ('generic', 'events') group by 1 order by 1`;
  const all = { contacts: people, people };
  expect(contacts).toEqual([
    { source: 'events', ...all },
    { source: 'generic', ...all },
  ]);
  await expectPromisesKept(system);
});

const shapes = ['null', 'drop', 'reverse', 'rotate', 'stub', 'foreign', 'short', 'duplicate'] as const;

it("no contact gets another person's data from reordered, short, foreign or repeated matches", async () => {
  // Ten people, who are one call, for each shape. Their last names contain the shape, which selects the fault. The
  // sandbox adds namesakes of some people, who must be a mismatch in any order.
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
