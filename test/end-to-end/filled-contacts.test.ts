import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { Population } from '../../src/sandbox/population.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile({ latency: 20, worker: true });

const population = new Population();
const reachable = Array.from({ length: 100 }, (_, number) => population.numbered(number)).flatMap((known) =>
  known.email === null ? [] : [{ email: known.email, first: known.firstName, last: known.lastName }],
);
let files = 0;

interface Row {
  readonly id: string;
  readonly email: string;
  readonly first: string;
  readonly last: string;
}

/** Known people from a number on, as rows of an export with ids of its CRM. */
function peopleFrom(number: number, count: number, prefix: string): Row[] {
  return reachable
    .slice(number, number + count)
    .map((known, index) => ({ ...known, id: `${prefix}${index + 1}` }));
}

function exportOf(rows: readonly Row[]): string {
  files += 1;
  const file = join(system.directory, `people-${files}.csv`);
  const lines = rows.map(({ id, email, first, last }) => `${id},${email},${first},${last}`);
  writeFileSync(file, ['Contact ID,Email,First Name,Last Name', ...lines].join('\n') + '\n');
  return file;
}

async function run(rows: readonly Row[], source: string): Promise<RunFacts> {
  return (await system.here(['run', exportOf(rows), '--source', source, '--yes', '--json'])).facts();
}

interface Contact {
  readonly contact_id: string;
  readonly person_id: string;
  readonly email: string;
  readonly title: string;
}

async function contactsOf(source: string): Promise<Contact[]> {
  return system.warehouse.query<Contact>`
    select contact_id, person_id, email, title
    from enrichment.enriched_contacts where source = ${source} order by contact_id`;
}

async function reasonOf(runId: string, row: number): Promise<string> {
  const rows = await system.warehouse.query<{ reason: string }>`
    select reason from enrichment.run_rows where run_id = ${runId} and row_number = ${row}`;
  return rows[0]!.reason;
}

describe('a contact that is shown to be a known person', () => {
  it('a contact is filled without a call when another row of the file was asked for', async () => {
    const [person] = peopleFrom(0, 1, 'a');
    const facts = await run([person!, { ...person!, id: 'a2' }], 'crm-a');
    expect(facts).toMatchObject({ calls: 1, filled: 1, outcomes: { enriched: 1, duplicate: 1 } });
    const contacts = await contactsOf('crm-a');
    expect(contacts.map(({ contact_id }) => contact_id)).toEqual(['a1', 'a2']);
    expect({ ...contacts[1], contact_id: 'a1' }).toEqual(contacts[0]);
    expect(await reasonOf(facts.run_id, 2)).toBe('the same person as row 1; filled without a call');
    await expectPromisesKept(system);
  });

  it('a contact is filled without a call when another source paid for the person, as planned', async () => {
    await run(peopleFrom(10, 5, 'b'), 'crm-b');
    const rows = peopleFrom(10, 5, 'c');
    const planned = await system.here(['plan', exportOf(rows), '--source', 'crm-c', '--json']);
    expect(JSON.parse(planned.stdout)).toMatchObject({ filled: 5, people: 0 });
    const facts = await run(rows, 'crm-c');
    expect(facts).toMatchObject({ calls: 0, filled: 5, outcomes: { fresh: 5 } });
    const [paid, filled] = [await contactsOf('crm-b'), await contactsOf('crm-c')];
    expect(filled.map((contact) => contact.person_id)).toEqual(paid.map((contact) => contact.person_id));
    expect(filled.map((contact) => contact.title)).toEqual(paid.map((contact) => contact.title));
    await expectPromisesKept(system);
  });

  it('contacts of known people are filled by a run with --max-credits 0, and all others are over budget', async () => {
    await run(peopleFrom(60, 3, 'i'), 'crm-i');
    const rows = peopleFrom(60, 5, 'j');
    const ended = await system.here([
      'run',
      exportOf(rows),
      '--source',
      'crm-j',
      '--max-credits',
      '0',
      '--yes',
      '--json',
    ]);
    expect(ended.code).toBe(3);
    expect(ended.facts()).toMatchObject({
      calls: 0,
      filled: 3,
      credits: { settled: '0', reserved: '0' },
      outcomes: { fresh: 3, over_budget: 2 },
    });
    expect(await contactsOf('crm-j')).toHaveLength(3);
    await expectPromisesKept(system);
  });
});

/** An export of no known CRM: the same record ids in each, and other people for each seed. */
function genericExport(seed: number): string {
  const file = join(system.directory, `people-${seed}.csv`);
  const text = [...sampleExport({ people: 12, seed })].join('');
  writeFileSync(file, text.replace('Record ID', 'id'));
  return file;
}

async function allContacts(): Promise<readonly { readonly source: string; readonly contact: string }[]> {
  return system.warehouse.query<{ source: string; contact: string }>`
    select source, c::text as contact from enriched_contacts c order by source, contact_id`;
}

it('a file without a named source is refused before it costs if its contact ids are other people', async () => {
  const first = await system.here(['run', genericExport(71), '--yes', '--json']);
  expect(first.facts().outcomes['enriched']).toBeGreaterThan(3);
  const before = await allContacts();

  const other = genericExport(72);
  for (const command of [
    ['plan', other],
    ['run', other, '--yes'],
    ['run', other, '--yes', '--json'],
  ]) {
    const refused = await system.here(command);
    expect(refused.code).toBe(2);
    expect(refused.stdout + refused.stderr).toContain('--source NAME');
  }
  expect(await allContacts()).toEqual(before);

  const named = await system.here(['run', other, '--yes', '--json', '--source', 'events']);
  expect(named.facts().outcomes['enriched']).toBeGreaterThan(3);
  const after = await allContacts();
  expect(after.filter(({ source }) => source !== 'events')).toEqual(before);

  // The same file again, and the same source by its name, are no mistake.
  expect((await system.here(['plan', genericExport(71)])).code).toBe(0);
  expect((await system.here(['plan', other, '--source', 'generic'])).code).toBe(0);
  await expectPromisesKept(system);
});
