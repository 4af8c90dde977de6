import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { jobFacts, writeMatch, writeObservation, titleFacts } from '../../helpers/warehouse/write-facts.ts';

const warehouse = await warehouseOfFile();

const acme = { id: 'org-acme', name: 'Acme', domain: 'acme.example' };
const orbit = { id: 'org-orbit', name: 'Orbit', domain: 'orbit.example' };
let people = 0;
const newPerson = (): string => `person-${(people += 1)}`;

async function rows<Row>(view: string, where: string, values: unknown[]): Promise<Row[]> {
  const { rows: found } = await warehouse.pool.query(
    `select * from enrichment.${view} where ${where}`,
    values,
  );
  return found as Row[];
}

interface Interval {
  readonly field_group: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly valid_from: Date;
  readonly valid_to: Date | null;
  readonly run_id: string;
  readonly attempt_id: string;
  readonly delivery_id: string | null;
}

async function historyOf(contactId: string, group: string): Promise<Interval[]> {
  const found = await rows<Interval>(
    'contact_history',
    `contact_id = $1 and field_group = $2 order by valid_from`,
    [contactId, group],
  );
  return found;
}

it('contact_history has one interval per value, without overlap, and the last one is open', async () => {
  const person = newPerson();
  await writeObservation(warehouse, {
    person,
    askedAt: '2026-01-01',
    runId: 'run-1',
    facts: titleFacts('Analyst'),
  });
  await writeMatch(warehouse, { contactId: person, person, at: '2026-01-01', runId: 'run-1' });
  await writeObservation(warehouse, {
    person,
    askedAt: '2026-02-01',
    runId: 'run-2',
    facts: titleFacts('Lead'),
  });
  const titles = await historyOf(person, 'title');
  expect(titles.map(({ value, valid_to, run_id }) => [value, valid_to !== null, run_id])).toEqual([
    [{ title: 'Analyst' }, true, 'run-1'],
    [{ title: 'Lead' }, false, 'run-2'],
  ]);
  expect(titles[0]!.valid_to).toEqual(titles[1]!.valid_from);
});

it('contact_history begins when the contact got its person, not when the service was called', async () => {
  const person = newPerson();
  const facts = titleFacts('Analyst');
  await writeObservation(warehouse, {
    person,
    askedAt: '2026-01-01',
    recordedAt: '2026-01-05',
    runId: 'run-1',
    facts,
  });
  await writeMatch(warehouse, { contactId: person, person, at: '2026-03-01', runId: 'run-2' });
  const [title] = await historyOf(person, 'title');
  expect(title).toMatchObject({
    valid_from: new Date('2026-03-01T00:00:00Z'),
    valid_to: null,
    run_id: 'run-1',
  });
});

it('contact_history ends a title when the contact loses its person, and begins one with the next person', async () => {
  const [former, present] = [newPerson(), newPerson()];
  for (const person of [former, present])
    await writeObservation(warehouse, {
      person,
      askedAt: '2026-01-01',
      runId: 'run-1',
      facts: titleFacts(person),
    });
  await writeMatch(warehouse, { contactId: former, person: former, at: '2026-01-01', runId: 'run-1' });
  await writeMatch(warehouse, { contactId: former, person: null, at: '2026-02-01', runId: 'run-2' });
  await writeMatch(warehouse, { contactId: former, person: present, at: '2026-03-01', runId: 'run-3' });
  const titles = await historyOf(former, 'title');
  expect(titles.map(({ value, valid_from, valid_to }) => [value['title'], valid_from, valid_to])).toEqual([
    [former, new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z')],
    [present, new Date('2026-03-01T00:00:00Z'), null],
  ]);
});

it('field_provenance names the answer that a value came from, also if later answers lack the field', async () => {
  const person = newPerson();
  const email = { email: { email: 'ada@acme.example', email_status: 'verified', rank: 1 } };
  await writeObservation(warehouse, {
    person,
    askedAt: '2026-01-01',
    runId: 'run-1',
    facts: { ...email, title: { title: 'A' } },
  });
  await writeMatch(warehouse, { contactId: person, person, at: '2026-01-01', runId: 'run-1' });
  await writeObservation(warehouse, {
    person,
    askedAt: '2026-02-01',
    runId: 'run-2',
    facts: titleFacts('B'),
  });
  const found = await rows<Interval>('field_provenance', 'contact_id = $1', [person]);
  const byGroup = Object.fromEntries(found.map((each) => [each.field_group, each]));
  expect(byGroup['email']).toMatchObject({
    value: { email: 'ada@acme.example', email_status: 'verified' },
    run_id: 'run-1',
    attempt_id: 'attempt-run-1',
    delivery_id: null,
    observed_at: new Date('2026-01-01T00:00:00Z'),
  });
  expect(byGroup['title']).toMatchObject({ value: { title: 'B' }, run_id: 'run-2' });
});

it('contact_history shows for each past moment the values that field_provenance showed then', async () => {
  const person = newPerson();
  const provenance = async (): Promise<unknown[]> => {
    const found = await rows<Interval>('field_provenance', 'contact_id = $1 order by field_group', [person]);
    return found.map(({ field_group, value, run_id }) => [field_group, value, run_id]);
  };
  const phone = (number: string, status_rank: number) => ({ number, status_rank, position: 0 });
  const address = (email: string, rank: number) => ({ email, email_status: `rank ${rank}`, rank });
  const organizationKey = 'id:org-acme';
  const said: Parameters<typeof writeObservation>[1][] = [
    {
      person,
      askedAt: '2026-01-01',
      runId: 'run-1',
      organizationKey,
      facts: jobFacts('CTO', acme, { email: 'a@b.example' }),
    },
    // This answer lacks the domain that the earlier answer has.
    {
      person,
      askedAt: '2026-01-03',
      runId: 'run-2',
      organizationKey,
      facts: jobFacts('CEO', { id: 'org-acme', name: 'A' }),
    },
    { person, askedAt: '2026-01-03', runId: 'run-3', kind: 'phones', facts: { phones: [phone('+491', 2)] } },
    { person, askedAt: '2026-01-04', runId: 'run-4', kind: 'phones', facts: { phones: [phone('+492', 1)] } },
    {
      person,
      askedAt: '2026-01-04',
      runId: 'run-5',
      kind: 'waterfall',
      facts: { waterfall_emails: [address('w', 2)] },
    },
    {
      person,
      askedAt: '2026-01-05',
      runId: 'run-6',
      kind: 'waterfall',
      facts: { waterfall_emails: [address('v', 3)] },
    },
    // This answer is recorded late: the answer of a later call is already stored.
    {
      person,
      askedAt: '2026-01-02',
      runId: 'run-7',
      organizationKey: 'id:org-orbit',
      facts: jobFacts('Lead', orbit),
    },
    { person, askedAt: '2026-01-06', runId: 'run-8', kind: 'phones', facts: { phones: [phone('+491', 1)] } },
    {
      person,
      askedAt: '2026-01-07',
      runId: 'run-9',
      organizationKey,
      facts: jobFacts('CEO', acme, { email: 'c@d.example' }),
    },
    {
      person,
      askedAt: '2026-01-08',
      runId: 'run-10',
      organizationKey,
      facts: jobFacts('CEO', acme, { email: 'c@d.example' }),
    },
  ];
  const states = [];
  for (const [day, entry] of said.entries()) {
    const recordedAt = new Date(Date.UTC(2026, 1, day + 1));
    await writeObservation(warehouse, { ...entry, recordedAt: recordedAt.toISOString() });
    if (day === 0)
      await writeMatch(warehouse, { contactId: person, person, at: '2025-12-31', runId: 'run-1' });
    states.push({ recordedAt, current: await provenance() });
  }
  const history = await rows<Interval>('contact_history', 'contact_id = $1 order by field_group', [person]);
  for (const { recordedAt, current } of states) {
    const valid = history.filter(
      ({ valid_from, valid_to }) => valid_from <= recordedAt && (valid_to === null || valid_to > recordedAt),
    );
    expect(valid.map(({ field_group, value, run_id }) => [field_group, value, run_id])).toEqual(current);
  }
});

interface JobChange {
  readonly from_organization: string;
  readonly to_organization: string;
  readonly evidence: string;
  readonly run_id: string;
}

async function movesOf(person: string): Promise<unknown[]> {
  const found = await rows<JobChange>('job_changes', `person_id = $1 order by detected_at`, [person]);
  return found.map(({ from_organization, to_organization, evidence, run_id }) => [
    from_organization,
    to_organization,
    evidence,
    run_id,
  ]);
}

async function seen(
  person: string,
  at: string,
  runId: string,
  employer: { readonly id: string; readonly name?: string; readonly domain?: string },
  more: Parameters<typeof jobFacts>[2] = {},
): Promise<void> {
  const organizationKey = `id:${employer.id}`;
  await writeObservation(warehouse, {
    person,
    askedAt: at,
    runId,
    facts: jobFacts('CTO', employer, more),
    organizationKey,
  });
}

it('job_changes has one row for a new job that started after the former one was last seen', async () => {
  const person = newPerson();
  await seen(person, '2026-01-01', 'run-1', acme, { startedOn: '2020-01-01' });
  await seen(person, '2026-06-01', 'run-2', orbit, { startedOn: '2026-04-01' });
  await seen(person, '2026-09-01', 'run-3', orbit, { startedOn: '2026-04-01' });
  expect(await movesOf(person)).toEqual([['Acme', 'Orbit', 'start_date', 'run-2']]);
});

it('job_changes has a row for a new employer that a new e-mail at this employer confirms', async () => {
  const person = newPerson();
  await seen(person, '2026-01-01', 'run-1', acme, { email: 'ada@acme.example' });
  await seen(person, '2026-06-01', 'run-2', orbit, { email: 'ada@orbit.example' });
  expect(await movesOf(person)).toEqual([['Acme', 'Orbit', 'email', 'run-2']]);
});

it('job_changes has a row for a new employer only after an e-mail confirms it, and names that run', async () => {
  const person = newPerson();
  await seen(person, '2026-01-01', 'run-1', acme, { email: 'ada@acme.example' });
  await seen(person, '2026-06-01', 'run-2', orbit);
  expect(await movesOf(person)).toEqual([]);
  await seen(person, '2026-07-01', 'run-3', orbit, { email: 'ada@orbit.example' });
  expect(await movesOf(person)).toEqual([['Acme', 'Orbit', 'email', 'run-3']]);
});

it('job_changes has no row if a company only changes its name, domain and e-mails', async () => {
  const person = newPerson();
  const renamed = { id: 'org-acme', name: 'Zenith', domain: 'zenith.example' };
  await seen(person, '2026-01-01', 'run-1', acme, { email: 'ada@acme.example' });
  await seen(person, '2026-06-01', 'run-2', renamed, { email: 'ada@zenith.example' });
  expect(await movesOf(person)).toEqual([]);
});
