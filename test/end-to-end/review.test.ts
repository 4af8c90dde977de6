import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectPromisesKept } from '../helpers/system/promises.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile({ latency: 20, worker: true });

it('enrich review lists a contact without its data, and decisions give and take the data', async () => {
  const known = (await system.here(['run', system.sample(10), '--yes', '--json'])).facts();
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
  const run = await system.here(['run', file, '--source', 'support', '--yes', '--json']);
  expect(run.facts()).toMatchObject({ calls: 0, outcomes: { fresh: 1 } });

  const review = async (...parameters: string[]) => {
    const { code, stdout } = await system.here(['review', ...parameters, '--json']);
    return { code, facts: JSON.parse(stdout.trim().split('\n').at(-1)!) as unknown };
  };
  const withheld = { person_id: person, reason: 'the email agrees and the name does not' };
  expect(await review('list', '--source', 'support')).toMatchObject({
    code: 0,
    facts: [{ source: 'support', contact_id: '4711', ...withheld, row_number: 1 }],
  });
  expect(await review('confirm', 'support', '4711', person)).toMatchObject({
    code: 3,
    facts: { recorded: false, person_before: null, person_now: person },
  });
  expect(await review('list', '--contact', 'support/4711')).toMatchObject({
    code: 0,
    facts: { person_id: null, evidence: null, candidates: [withheld], decisions: [] },
  });
  expect(
    await review('confirm', 'support', '4711', person, '--yes', '--reason', 'ticket 17', '--by', 'ops'),
  ).toMatchObject({ code: 0, facts: { recorded: true, person_now: person, open_run: null } });
  expect(await review('list', '--contact', 'support/4711')).toMatchObject({
    facts: {
      person_id: person,
      evidence: 'confirmed',
      candidates: [],
      decisions: [{ person_id: person, verdict: 'confirmed', holds: true, decided_by: 'ops' }],
    },
  });
  expect(await review('list')).toMatchObject({ code: 0, facts: [] });
  const again = await system.here(['review', 'confirm', 'support', '4711', person, '--yes']);
  expect(again.stdout).toBe(`this was decided before; the contact still has ${person}\n`);

  const rejected = await system.here(['review', 'reject', 'support', '4711', person, '--yes']);
  expect(rejected.stdout).toBe(`the contact now has no person, in place of ${person}\n`);
  expect(await review('list')).toMatchObject({ code: 0, facts: [] });
  expect(await review('withdraw', 'support', '4711', person, '--yes')).toMatchObject({
    code: 0,
    facts: { recorded: true, person_before: null, person_now: null },
  });
  expect(await review('list')).toMatchObject({ facts: [{ contact_id: '4711' }] });
  const { stdout } = await system.here(['review', 'list', '--contact', 'support/4711']);
  expect(stdout).toMatch(/^support 4711: no person\n[^]*withdrawn[^]*rejected[^]*confirmed/);
  await expectPromisesKept(system);
});

it.each([
  [['list', '--source', 'nowhere'], 'the warehouse has no source "nowhere"'],
  [['list', '--contact', 'support/4712'], 'the warehouse does not know this record'],
  [['confirm', 'support', '4711', 'p-unknown', '--yes'], 'no answer has named a person with this id'],
  [['withdraw', 'support', '4711', 'p-unknown', '--yes'], 'there is no decision about this contact'],
  [['reject', 'support', '4711', 'p-1', '--reason', 'ada@orbit.example'], 'seems to name a person'],
])('enrich review %j is refused', async (parameters, why) => {
  const ended = await system.here(['review', ...parameters]);
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(why) });
});
