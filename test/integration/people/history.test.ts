import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { jobFacts, writeMatch, writeObservation, titleFacts } from '../../helpers/warehouse/write-facts.ts';

const warehouse = await warehouseOfFile();

const acme = { id: 'org-acme', name: 'Acme', domain: 'acme.example' };
const orbit = { id: 'org-orbit', name: 'Orbit', domain: 'orbit.example' };
let people = 0;
const newPerson = (): string => `person-${(people += 1)}`;

/** Records an answer about a person. */
const say = (person: string, askedAt: string, runId: string, facts: object): Promise<void> =>
  writeObservation(warehouse, { person, askedAt, runId, facts: { ...facts } });
/** Gives the contact `contactId` a person, or takes its person away. */
const match = (contactId: string, person: string | null, at: string, runId: string): Promise<void> =>
  writeMatch(warehouse, { contactId, person, at, runId });

interface Interval {
  readonly field_group: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly valid_from: Date;
  readonly valid_to: Date | null;
  readonly run_id: string;
}

const titlesOf = (contactId: string) => warehouse.query<Interval>`
  select * from contact_history where contact_id = ${contactId} and field_group = 'title' order by valid_from`;
const provenanceOf = (contactId: string) => warehouse.query<Interval>`
  select * from field_provenance where contact_id = ${contactId} order by field_group`;

it('contact_history has one interval per value, without overlap, and the last one is open', async () => {
  const person = newPerson();
  await say(person, '2026-01-01', 'run-1', titleFacts('Analyst'));
  await match(person, person, '2026-01-01', 'run-1');
  await say(person, '2026-02-01', 'run-2', titleFacts('Lead'));
  const titles = await titlesOf(person);
  expect(titles.map(({ value, valid_to, run_id }) => [value, valid_to !== null, run_id])).toEqual([
    [{ title: 'Analyst' }, true, 'run-1'],
    [{ title: 'Lead' }, false, 'run-2'],
  ]);
  expect(titles[0]!.valid_to).toEqual(titles[1]!.valid_from);
});

it('contact_history begins when the contact got its person, not when the service was called', async () => {
  const person = newPerson();
  const facts = titleFacts('Analyst');
  const said = { person, askedAt: '2026-01-01', recordedAt: '2026-01-05', runId: 'run-1', facts };
  await writeObservation(warehouse, said);
  await match(person, person, '2026-03-01', 'run-2');
  const valid_from = new Date('2026-03-01T00:00:00Z');
  expect(await titlesOf(person)).toMatchObject([{ valid_from, valid_to: null, run_id: 'run-1' }]);
});

it('contact_history ends a title when the contact loses its person, and begins one with the next person', async () => {
  const [former, present] = [newPerson(), newPerson()];
  for (const person of [former, present]) await say(person, '2026-01-01', 'run-1', titleFacts(person));
  await match(former, former, '2026-01-01', 'run-1');
  await match(former, null, '2026-02-01', 'run-2');
  await match(former, present, '2026-03-01', 'run-3');
  const titles = await titlesOf(former);
  expect(titles.map(({ value, valid_from, valid_to }) => [value['title'], valid_from, valid_to])).toEqual([
    [former, new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z')],
    [present, new Date('2026-03-01T00:00:00Z'), null],
  ]);
});

it('field_provenance names the answer that a value came from, also if later answers lack the field', async () => {
  const person = newPerson();
  const email = { email: { email: 'ada@acme.example', email_status: 'verified', rank: 1 } };
  await say(person, '2026-01-01', 'run-1', { ...email, ...titleFacts('A') });
  await match(person, person, '2026-01-01', 'run-1');
  await say(person, '2026-02-01', 'run-2', titleFacts('B'));
  const found = await provenanceOf(person);
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
  const phone = (number: string, status_rank: number) => ({ phones: [{ number, status_rank, position: 0 }] });
  const email = (name: string, rank: number) => ({
    waterfall_emails: [{ email: name, email_status: `rank ${rank}`, rank }],
  });
  const moved = jobFacts('CEO', acme, { email: 'c@d.example' });
  const said: [askedOn: string, kind: 'answer' | 'phones' | 'waterfall', facts: object][] = [
    ['01', 'answer', jobFacts('CTO', acme, { email: 'a@b.example' })],
    // This answer lacks the domain that the earlier answer has.
    ['03', 'answer', jobFacts('CEO', { id: 'org-acme', name: 'A' })],
    ['03', 'phones', phone('+491', 2)],
    ['04', 'phones', phone('+492', 1)],
    ['04', 'waterfall', email('w', 2)],
    ['05', 'waterfall', email('v', 3)],
    // This answer is recorded late: the answer of a later call is already stored.
    ['02', 'answer', jobFacts('Lead', orbit)],
    ['06', 'phones', phone('+491', 1)],
    ['07', 'answer', moved],
    ['08', 'answer', moved],
  ];
  const shown = (intervals: readonly Interval[]) =>
    intervals.map(({ field_group, value, run_id }) => [field_group, value, run_id]);
  const states = [];
  for (const [day, [askedOn, kind, facts]] of said.entries()) {
    const recordedAt = new Date(Date.UTC(2026, 1, day + 1));
    await writeObservation(warehouse, {
      person,
      kind,
      askedAt: `2026-01-${askedOn}`,
      recordedAt: recordedAt.toISOString(),
      runId: `run-${day + 1}`,
      facts: { ...facts },
    });
    if (day === 0) await match(person, person, '2025-12-31', 'run-1');
    states.push({ recordedAt, current: shown(await provenanceOf(person)) });
  }
  const history = await warehouse.query<Interval>`
    select * from contact_history where contact_id = ${person} order by field_group`;
  for (const { recordedAt, current } of states) {
    const valid = history.filter(
      ({ valid_from, valid_to }) => valid_from <= recordedAt && (valid_to === null || valid_to > recordedAt),
    );
    expect(shown(valid)).toEqual(current);
  }
});

type Employer = Parameters<typeof jobFacts>[1];
type JobSeen = readonly [at: string, employer: Employer, more?: Parameters<typeof jobFacts>[2]];

const renamed = { id: 'org-acme', name: 'Zenith', domain: 'zenith.example' };
const [ofAcme, ofOrbit] = [{ email: 'ada@acme.example' }, { email: 'ada@orbit.example' }];
const since = { startedOn: '2026-04-01' };

it.each<[string, readonly JobSeen[], readonly unknown[]]>([
  [
    'one row for a new job that started after the former one was last seen',
    [
      ['2026-01-01', acme, { startedOn: '2020-01-01' }],
      ['2026-06-01', orbit, since],
      ['2026-09-01', orbit, since],
    ],
    [['Acme', 'Orbit', 'start_date', 'run-2']],
  ],
  [
    'a row for a new employer that a new e-mail at this employer confirms',
    [
      ['2026-01-01', acme, ofAcme],
      ['2026-06-01', orbit, ofOrbit],
    ],
    [['Acme', 'Orbit', 'email', 'run-2']],
  ],
  [
    'no row for a new employer before an e-mail confirms it',
    [
      ['2026-01-01', acme, ofAcme],
      ['2026-06-01', orbit],
    ],
    [],
  ],
  [
    'a row with the run whose answer has the e-mail that confirms a new employer',
    [
      ['2026-01-01', acme, ofAcme],
      ['2026-06-01', orbit],
      ['2026-07-01', orbit, ofOrbit],
    ],
    [['Acme', 'Orbit', 'email', 'run-3']],
  ],
  [
    'no row if a company only changes its name, domain and e-mails',
    [
      ['2026-01-01', acme, ofAcme],
      ['2026-06-01', renamed, { email: 'ada@zenith.example' }],
    ],
    [],
  ],
])('job_changes has %s', async (_, jobs, moves) => {
  const person = newPerson();
  for (const [index, [at, employer, more]] of jobs.entries())
    await say(person, at, `run-${index + 1}`, jobFacts('CTO', employer, more));
  const found = await warehouse.query`
    select from_organization, to_organization, evidence, run_id from job_changes
    where person_id = ${person} order by detected_at`;
  expect(found.map((move) => Object.values(move))).toEqual(moves);
});
