import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { TestSystem, type EndedCommand } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ latency: 20 });
await system.startWorker({ LATE_RESULTS_POLL_AFTER: '1s' });

/** Returns all columns of all contacts and phones as text. */
async function contents(): Promise<string> {
  const rows = await system.warehouse.query<{ content: string }>`
    select (select coalesce(string_agg(c::text, E'\\n' order by c::text), '') from enriched_contacts c)
    || (select coalesce(string_agg(p::text, E'\\n' order by p::text), '') from person_phones p) as content`;
  return rows[0]!.content;
}

/** Counts the contacts of a run that have a person. */
async function contactsOf(runId: string): Promise<number> {
  const rows = await system.warehouse.query<{ contacts: number }>`
    select count(*)::int as contacts
    from enrichment_internal.contact_records join enrichment.enriched_contacts using (source, contact_id)
    where contact_records.run_id = ${runId}`;
  return rows[0]!.contacts;
}

async function enriched(file: string, ...flags: readonly string[]): Promise<RunFacts> {
  return (await system.here(['run', file, '--yes', '--json', ...flags])).facts();
}

async function undo(
  runId: string,
  ...flags: readonly string[]
): Promise<{ ended: EndedCommand; said: Said }> {
  const ended = await system.here(['undo', runId, '--json', ...flags]);
  return { ended, said: JSON.parse(ended.stdout) as Said };
}

interface Said {
  readonly undone: boolean;
  readonly removed: number;
  readonly returned: number;
  readonly restored: number;
}

it('enrich undo shows its effect, needs approval and keeps the answers; --revert restores the data', async () => {
  await enriched(system.sample(20));
  const run = await enriched(system.sample(30), '--reveal', 'phone');
  const after = await contents();

  const shown = await undo(run.run_id);
  expect(shown.ended).toMatchObject({ code: 3, stderr: expect.stringContaining('nothing was changed') });
  expect(shown.said.undone).toBe(false);
  expect(shown.said.removed + shown.said.restored).toBe(await contactsOf(run.run_id));
  expect(await contents()).toBe(after);
  const asked = await system.here(['undo', run.run_id]);
  expect(`${asked.stderr}${asked.stdout}`.match(/nothing was changed/g)).toHaveLength(1);

  const { code, shown: said } = await system.answerPrompts(['undo', run.run_id, '--reason', 'wrong'], 'y\n');
  expect(code).toBe(0);
  expect(said).toMatch(new RegExp(`lose their data: no other export has them +${shown.said.removed}\\r?\\n`));
  expect(said).toMatch(new RegExp(`stay: other exports have them too +${shown.said.restored}\\r?\\n`));
  expect(said).toMatch(new RegExp(`credits, which are not refunded +${run.credits.settled}\\r?\\n`));
  expect(said).toContain(`undone: ${shown.said.removed} contacts lost their data`);
  expect(await contactsOf(run.run_id)).toBe(shown.said.restored);
  await expectPromisesKept(system);

  const again = await system.here(['undo', run.run_id, '--yes']);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('the run is undone already') });
  expect((await system.here(['status', run.run_id])).stdout).toMatch(/undone on .+ by .+ \(wrong\)/);
  expect((await system.here(['report', run.run_id])).stdout).toContain('finished, undone');
  expect((await undo(run.run_id, '--revert', '--yes')).said.returned).toBe(shown.said.removed);
  expect(await contents()).toBe(after);
});

it('a later run pays again for people of an undone run only if enrich undo had --discard-answers', async () => {
  const file = system.sample(20);
  const first = await enriched(file);
  await undo(first.run_id, '--yes');
  const again = join(system.directory, 'again.csv');
  writeFileSync(again, `${readFileSync(file, 'utf8')}\n`);
  expect(await enriched(again)).toMatchObject({ calls: 0, outcomes: { fresh: expect.any(Number) } });
  const { ended } = await undo(first.run_id, '--discard-answers', '--yes');
  expect(ended.code).toBe(0);
  expect((await enriched(again)).outcomes).toEqual(first.outcomes);
  await expectPromisesKept(system);
});

it('enrich review lists contacts without personal data, and its decisions assign or remove a person', async () => {
  const known = await enriched(system.sample(10));
  const rows = await system.warehouse.query<{ email: string; person: string }>`
    select r.email, c.person_id as person
    from run_rows r
    join enriched_contacts c on c.run_id = r.run_id and c.row_number = r.row_number
    join contacts d on d.source = c.source and d.contact_id = c.contact_id
    where r.run_id = ${known.run_id} and d.evidence = 'email'
    order by r.row_number limit 1`;
  const { email, person } = rows[0]!;
  const file = join(system.directory, 'support.csv');
  writeFileSync(file, `Record ID,First Name,Last Name,Email\n4711,Zora,Quist,${email}\n`);
  expect(await enriched(file, '--source', 'support')).toMatchObject({ calls: 0, outcomes: { fresh: 1 } });

  const review = async (...parameters: string[]) => {
    const { code, stdout } = await system.here(['review', ...parameters, '--json']);
    return { code, facts: JSON.parse(stdout.trim().split('\n').at(-1)!) as unknown };
  };
  const withheld = { person_id: person, reason: 'the email agrees and the name does not' };
  const listed = [{ source: 'support', contact_id: '4711', ...withheld, row_number: 1 }];
  expect(await review('list')).toMatchObject({ code: 0, facts: listed });
  const decision = ['support', '4711', person];
  expect(await review('confirm', ...decision)).toMatchObject({
    code: 3,
    facts: { recorded: false, person_before: null, person_now: person },
  });
  expect(await review('confirm', ...decision, '--yes', '--reason', 'ticket 17', '--by', 'ops')).toMatchObject(
    { code: 0, facts: { recorded: true, person_now: person } },
  );
  expect(await review('list', '--contact', 'support/4711')).toMatchObject({
    facts: { person_id: person, evidence: 'confirmed', decisions: [{ holds: true, decided_by: 'ops' }] },
  });
  const rejected = await system.here(['review', 'reject', ...decision, '--yes']);
  expect(rejected.stdout).toMatch(new RegExp(`person before +${person}\\n +person now +-\\n`));
  expect(await review('list')).toMatchObject({ code: 0, facts: [] });
  expect(await review('withdraw', ...decision, '--yes')).toMatchObject({ facts: { recorded: true } });
  expect(await review('list')).toMatchObject({ facts: listed });
  await expectPromisesKept(system);
});
