import { describe, expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { unsuppress } from '../../../src/suppression/suppression-list.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { appendContact } from '../../helpers/warehouse/append-contact.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { everything } from '../../helpers/database/everything.ts';
import { putOnList } from '../../helpers/warehouse/put-on-list.ts';
import { asked, outcomesOf, stagedRun, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
let people = 0;

/** A row with a profile, and the person at a domain whom the service returns for it. */
function employee(domain: string) {
  people += 1;
  const lastName = `Novak${'abcdefghijklmnopqrstuvw'[people]!}`;
  const profileUrl = `linkedin.com/in/ada-${lastName.toLowerCase()}`;
  return {
    row: {
      keys: [`profile:${profileUrl}`],
      profileUrl,
      firstName: 'Ada',
      lastName,
      contactId: `p-${people}`,
    },
    person: {
      id: `P-${people}`,
      first_name: 'Ada',
      last_name: lastName,
      proflink_url: profileUrl,
      email: `ada.${lastName}@${domain}`.toLowerCase(),
      organization: { name: `Orbit ${people}`, primary_domain: domain },
    },
  };
}

/** A row that has only the name and the employer of a person. */
function weakRowOf(person: ReturnType<typeof employee>['person']): StagedRow {
  const { first_name: firstName, last_name: lastName, organization } = person;
  const keys = [`name:${firstName} ${lastName}|${organization.name}`.toLowerCase()];
  return { keys, firstName, lastName, organizationName: organization.name, contactId: `weak-${person.id}` };
}

/** Plays a run of one row whose call returns a person. */
async function runOf(row: StagedRow, person: Person): Promise<(string | null)[]> {
  const runId = await runningRunOf(warehouse, [row]);
  await answerBatch(warehouse, { runId }, () => [person]);
  return outcomesOf(warehouse, runId);
}

/** The outcomes of rows in a run that has opened its page; null: the run would ask for the row. */
async function opened(...rows: readonly StagedRow[]): Promise<(string | null)[]> {
  const run = await stagedRun(warehouse, rows);
  await planRows(warehouse, run.runId, asked);
  await openPage(warehouse, run.runId, 1, asked);
  return outcomesOf(warehouse, run.runId);
}

describe('a person whom an answer connects with a listed domain', () => {
  it('a later run does not ask for the row again, until the domain is removed from the list', async () => {
    const { row, person } = employee('listed-one.example');
    await putOnList(warehouse, 'domain:listed-one.example');
    expect(await runOf(row, person)).toEqual(['suppressed']);
    expect(await opened({ ...row, contactId: 'elsewhere' })).toEqual(['suppressed']);
    await unsuppress(warehouse, ['domain:listed-one.example']);
    expect(await opened(row)).toEqual([null]);
  });

  it.each([
    ['the employer', { email: null }],
    ['the address', { organization: null }],
  ])(
    'a run does not ask for a person if %s of an earlier answer is at a listed domain',
    async (_, without) => {
      const domain = `listed-${people}.example`;
      const { row, person } = employee(`eu.${domain}`);
      await appendContact(warehouse, {
        contactId: row.contactId,
        runId: 'gone',
        person: { ...person, ...without },
      });
      await putOnList(warehouse, `domain:${domain}`);
      expect(await opened(row, employee('other.example').row)).toEqual(['suppressed', null]);
    },
  );

  it('a run asks for a person of whom only an earlier answer than the newest was at a listed domain', async () => {
    const { row, person } = employee('former-domain.example');
    const later = { ...employee('present-domain.example').person, id: person.id };
    await appendContact(warehouse, { contactId: row.contactId, runId: 'gone', person });
    await appendContact(warehouse, {
      contactId: row.contactId,
      runId: 'gone too',
      askedAt: '2026-11-21T08:00:00Z',
      person: { ...later, last_name: person.last_name, proflink_url: person.proflink_url },
    });
    await putOnList(warehouse, 'domain:former-domain.example');
    expect(await opened(row)).toEqual([null]);
  });
});

describe('rows for which a run does not ask', () => {
  const { signal } = new AbortController();

  /** What a planned run keeps of its rows after its end. */
  async function keptOf(...rows: readonly StagedRow[]): Promise<readonly object[]> {
    const run = await stagedRun(warehouse, rows);
    await planRows(warehouse, run.runId, asked);
    await reconcileContacts(warehouse, run.runId, signal);
    return warehouse.query<object>`
      select outcome, last_name as name from run_rows where run_id = ${run.runId} order by row_number`;
  }

  it('fresh rows and duplicates of a person under a key that an answer stated are suppressed', async () => {
    const [listed, other] = [employee('fresh.example'), employee('fresh.example')];
    for (const { row, person } of [listed, other])
      expect(await runOf({ ...row, contactId: `first-${row.contactId}` }, person)).toEqual(['enriched']);
    await putOnList(warehouse, `email:${listed.person.email}`);
    const rows = [listed.row, { ...listed.row, contactId: 'again' }, other.row];
    expect(await keptOf(...rows)).toEqual([
      { outcome: 'suppressed', name: null },
      { outcome: 'suppressed', name: null },
      { outcome: 'fresh', name: other.row.lastName },
    ]);
  });

  it('a fresh row is suppressed if an answer stated a listed key for its contact, which keeps its person', async () => {
    const { row, person } = employee('of-contact.example');
    expect(await runOf(row, person)).toEqual(['enriched']);
    await putOnList(warehouse, `email:${person.email}`);
    expect(await keptOf(row)).toEqual([{ outcome: 'suppressed', name: null }]);
    expect(await keptOf(row)).toEqual([{ outcome: 'suppressed', name: null }]);
    const rows = await warehouse.query`select 1 from enriched_contacts where person_id = ${person.id}`;
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['another known person', 'Grace', 'fresh'],
    ['the same name at another known person', 'Ada', 'suppressed'],
  ])('a row that names %s, of a contact whose person is listed: %s is %s', async (_, firstName, outcome) => {
    const [former, present] = [employee('replaced.example'), employee('replaced.example')];
    const lastName = firstName === 'Ada' ? former.row.lastName : present.row.lastName;
    const row = { ...present.row, firstName, lastName };
    const person = { ...present.person, first_name: firstName, last_name: lastName };
    const contactId = `replaced-${firstName}`;
    expect(await runOf({ ...former.row, contactId }, former.person)).toEqual(['enriched']);
    expect(await runOf(row, person)).toEqual(['enriched']);
    await putOnList(warehouse, `email:${former.person.email}`);
    const isFresh = outcome === 'fresh';
    expect(await keptOf({ ...row, contactId })).toEqual([{ outcome, name: isFresh ? lastName : null }]);
    const rows = await warehouse.query`
      select person_id from enriched_contacts where contact_id = ${contactId}`;
    expect(rows).toEqual(isFresh ? [{ person_id: person.id }] : []);
  });
});

it('a contact of two runs at once has no person if the person of its newest row was listed meanwhile', async () => {
  const [former, present] = [employee('at-once.example'), employee('at-once.example')];
  const contactId = 'at-once';
  const runs: string[] = [];
  for (const { row } of [former, present]) runs.push(await runningRunOf(warehouse, [{ ...row, contactId }]));
  await answerBatch(warehouse, { runId: runs[1]! }, () => [present.person]);
  await endRun(warehouse, runs[1]!, 'finished', undefined);
  await answerBatch(warehouse, { runId: runs[0]! }, () => [former.person]);
  await putOnList(warehouse, `email:${present.person.email}`);
  await reconcileContacts(warehouse, runs[0]!, new AbortController().signal);
  expect(await warehouse.query`select 1 from enriched_contacts where contact_id = ${contactId}`).toEqual([]);
});

it.each(['an answer', 'the list'])(
  'nothing is kept of the cells of a contact that has lost its person when %s suppresses its row',
  async (suppressedBy) => {
    const [former, listed] = [employee('cells.example'), employee('cells.example')];
    const contactId = `cells-${former.row.contactId}`;
    expect(await runOf({ ...former.row, contactId }, former.person)).toEqual(['enriched']);
    const runId = await runningRunOf(warehouse, [{ ...listed.row, contactId }]);
    await reconcileContacts(warehouse, runId, new AbortController().signal);
    const isByAnswer = suppressedBy === 'an answer';
    await putOnList(
      warehouse,
      isByAnswer ? `person:${listed.person.id}` : `profile:${listed.row.profileUrl}`,
    );
    await openPage(warehouse, runId, 1, asked);
    if (isByAnswer) await answerBatch(warehouse, { runId }, () => [listed.person]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
    expect(await everything(warehouse)).not.toContain(listed.row.lastName);
  },
);

it('a row whose suppressed person only weak evidence found is fresh in the next run', async () => {
  const { person } = employee('weak.example');
  await putOnList(warehouse, `email:${person.email}`);
  const row = weakRowOf(person);
  expect(await runOf(row, person)).toEqual(['suppressed']);
  expect(await opened(row, weakRowOf(employee('other.example').person))).toEqual(['fresh', null]);
});

it('a row whose suppressed person an identifier found leaves no lookup', async () => {
  const { row, person } = employee('listed-person.example');
  const lookups = async () => (await warehouse.pool.query('select 1 from lookup_history')).rowCount;
  const before = await lookups();
  await putOnList(warehouse, `person:${person.id}`);
  expect(await runOf(row, person)).toEqual(['suppressed']);
  expect(await lookups()).toBe(before);
});
