import { expect, it, describe } from 'vitest';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { drainInbox } from '../../../src/late-results/sync-late-results.ts';
import { hashToken } from '../../../src/ledger/admit.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { lookupRequestOf, openPage } from '../../../src/runs/pages.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { undoRun, revertUndo } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answerBatch,
  readContact,
  runningRunOf,
  strangersOf,
} from '../../helpers/warehouse/scripted-calls.ts';
import { rejectPerson } from '../../../src/calls/batches/enrich-batch.ts';
import { digest } from '../../../src/people/digest.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { outcomesOf, testSpec } from '../../helpers/warehouse/rows.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });
const contact = (contactId: string) => readContact(warehouse, contactId);

let worlds = 0;

/** A row, and two people who fit the row by name and employer. No export has the e-mail of the second person. */
function world() {
  worlds += 1;
  const name = { first_name: 'Ida', last_name: `Vega${'abcdefghij'[worlds]!}` };
  const organization = { name: 'Delta Labs', primary_domain: 'delta.example' };
  const email = `iv${worlds}@delta.example`;
  const row = {
    keys: [`email:${email}`],
    email,
    firstName: name.first_name,
    lastName: name.last_name,
    organizationName: 'Delta Labs',
    contactId: `ida-${worlds}`,
  };
  const other = { keys: [`email:o${worlds}@far.example`], email: `o${worlds}@far.example` };
  return {
    row,
    otherRow: { ...other, firstName: 'Otto', lastName: 'Frank', contactId: `otto-${worlds}` },
    person: { id: `ida-${worlds}`, ...name, organization },
    namesake: {
      id: `ida-too-${worlds}`,
      ...name,
      title: 'CFO',
      organization,
      email: `ida${worlds}@delta.example`,
    },
  };
}

it('a contact loses its person when a later run finds a namesake, until the namesake is erased', async () => {
  const { row, otherRow, person, namesake } = world();
  const first = await runningRunOf(warehouse, [row], { source: 'hubspot' });
  await answerBatch(warehouse, { runId: first }, () => [person]);
  await endRun(warehouse, first, 'finished', undefined);
  expect(await contact(row.contactId)).toBeDefined();
  const second = await runningRunOf(warehouse, [otherRow], { source: 'salesforce' });
  await answerBatch(warehouse, { runId: second }, () => [namesake]);
  expect(await contact(row.contactId)).toBeUndefined();
  await endRun(warehouse, second, 'finished', undefined);
  await undoRun(warehouse, second, note, signal);
  expect(await contact(row.contactId)).toBeUndefined();
  await erase(warehouse, [`email:${namesake.email}`], note);
  expect(await contact(row.contactId)).toBeDefined();
});

it('openPage() opens a page that has a row with very long names', async () => {
  let seed = 7;
  const letter = (): string => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return String.fromCharCode(0xac00 + (seed % 11_172));
  };
  const name = (): string => Array.from({ length: 300 }, letter).join('');
  const long = { firstName: name(), lastName: name(), organizationName: name() };
  const runId = await runningRunOf(warehouse, [
    { keys: identityKeys(long), ...long, contactId: 'long' },
    { keys: ['email:short@x.example'], email: 'short@x.example', contactId: 'short' },
  ]);
  const { options } = await getRun(warehouse, runId);
  expect(await openPage(warehouse, runId, 1, lookupRequestOf(options))).toEqual({ batches: [1], people: 2 });
});

const waterfall = ['email', 'phone'] as const;

async function deliver(token: string, people: readonly object[]): Promise<void> {
  const body = { request_id: '9', target_fields: ['emails'], credits_consumed: 3, people };
  await storeDeliveries(warehouse, [
    {
      tokenHash: hashToken(token),
      body: Buffer.from(JSON.stringify(body)),
    },
  ]);
}

const stranger = {
  id: 'W-1',
  emails: [
    { email: 'ceo@acme.example', email_status_cd: 'verified' },
    { email: 'bob.private@home.example', email_status_cd: 'verified' },
  ],
  phone_numbers: [{ sanitized_number: '+14155550999', type_cd: 'mobile', status_cd: 'valid_number' }],
};

it('a late result with an unknown id is not assigned to a contact by an e-mail that only the CRM has', async () => {
  const runId = await runningRunOf(
    warehouse,
    [
      {
        keys: ['email:ceo@acme.example', 'profile:linkedin.com/in/ann-lee'],
        email: 'ceo@acme.example',
        profileUrl: 'linkedin.com/in/ann-lee',
        firstName: 'Ann',
        lastName: 'Lee',
        contactId: 'ann',
      },
    ],
    { waterfall },
  );
  const { attemptId, token } = await answerBatch(warehouse, { runId, waterfall }, () => [
    {
      id: 'P-ANN',
      first_name: 'Ann',
      last_name: 'Lee',
      proflink_url: 'https://linkedin.com/in/ann-lee',
      email: 'ann@newco.example',
    },
  ]);
  await deliver(token!, [stranger]);
  await drainInbox(warehouse, { attemptId }, new AbortController().signal);
  expect(await contact('ann')).toMatchObject({ email: 'ann@newco.example', phone: null });
});

describe('two contacts with the same name and employer', () => {
  const acme = { name: 'Acme Widgets', primary_domain: 'acme.example' };
  const locked = 'email_not_unlocked@domain.com';
  let people = 0;

  /** Two rows with the same name and employer, and the person whom the service finds for both rows. */
  function namesakes() {
    people += 1;
    const name = { firstName: 'John', lastName: `Smith${'abcdefghijklmnopqrstuvw'[people]!}` };
    const row = (local: string) => ({
      ...name,
      keys: [`email:${local}${people}@acme.example`],
      email: `${local}${people}@acme.example`,
      organizationName: 'Acme Widgets',
      contactId: `${local}-${people}`,
    });
    const person = { id: `P-${people}`, first_name: 'John', last_name: name.lastName, email: locked };
    return { first: row('js'), second: row('john.s'), person: { ...person, organization: acme } };
  }

  const strangers = () => strangersOf(`namesakes${people}`);

  it('a person whom two calls return is assigned to neither of two namesake contacts', async () => {
    const { first, second, person } = namesakes();
    const runId = await runningRunOf(warehouse, [first, ...strangers(), second]);
    for (const batch of [2, 1])
      await answerBatch(warehouse, { runId, batch }, (asked) =>
        asked.map(({ identity }) => (identity.firstName === 'John' ? person : null)),
      );
    const outcomes = await outcomesOf(warehouse, runId);
    expect([outcomes[0], outcomes[10]]).toEqual(['identity_mismatch', 'identity_mismatch']);
    expect(await contact(first.contactId)).toBeUndefined();
    expect(await contact(second.contactId)).toBeUndefined();
    const rows = await warehouse.query`
        select q.reason from quarantined_people q join attempts using (attempt_id) where run_id = ${runId}`;
    expect(rows.map(({ reason }) => reason as string)).toEqual(
      Array(2).fill('another contact could be this person as well'),
    );
  });

  it('row_results shows when and why an enriched row lost its person, until the cause is undone', async () => {
    const { first, second, person } = namesakes();
    const earlier = await runningRunOf(warehouse, [first, ...strangers()], { source: 'hubspot' });
    await answerBatch(warehouse, { runId: earlier }, (asked) =>
      asked.map(({ identity }) => (identity.firstName === 'John' ? person : null)),
    );
    const resultOf = async (): Promise<unknown> => {
      const rows = await warehouse.query`
        select outcome, reason, lost_reason, lost_at is not null as is_lost
        from row_results where run_id = ${earlier} and row_number = 1`;
      return rows[0] as unknown;
    };
    const kept = { outcome: 'enriched', reason: null, lost_reason: null, is_lost: false };
    const why = 'another contact could be this person as well';
    const lost = { ...kept, reason: `the contact lost its person: ${why}`, lost_reason: why, is_lost: true };
    expect(await resultOf()).toEqual(kept);
    const later = await runningRunOf(warehouse, [second], { source: 'salesforce' });
    await reconcileContacts(warehouse, later, signal);
    expect(await resultOf()).toEqual(lost);
    await answerBatch(warehouse, { runId: later }, () => [person]);
    await rebuild(warehouse, { check: false, signal });
    expect(await resultOf()).toEqual(lost);
    await endRun(warehouse, later, 'finished', undefined);
    await undoRun(warehouse, later, note, signal);
    expect(await resultOf()).toEqual(kept);
    await revertUndo(warehouse, later, signal);
    expect(await resultOf()).toEqual(lost);
    await endRun(warehouse, earlier, 'finished', undefined);
    await undoRun(warehouse, earlier, note, signal);
    expect(await resultOf()).toEqual(kept);
  });

  const endings = {
    'finds nobody': (runId: string) => answerBatch(warehouse, { runId }, () => [null]),
    'is refused': async (runId: string) => {
      const refused = { runId, rowNumber: 1, reason: 'refused', asked: testSpec().options };
      await rejectPerson(warehouse, refused);
      await digest(warehouse);
    },
  };

  it.each(Object.entries(endings))(
    'after a call for a name that %s, rebuild() finds no difference in the contacts of the name',
    async (_, end) => {
      const { person } = namesakes();
      const identity = { firstName: 'John', lastName: person.last_name, organizationName: 'Acme Widgets' };
      const rowOf = (contactId: string) => ({ ...identity, contactId, keys: identityKeys(identity) });
      const other = { ...strangers()[0]!, contactId: `stranger-${people}` };
      const first = await runningRunOf(warehouse, [other]);
      await answerBatch(warehouse, { runId: first }, () => [person]);
      const unasked = await runningRunOf(warehouse, [rowOf(`unasked-${people}`)], { source: 'events' });
      await reconcileContacts(warehouse, unasked, signal);
      const asking = await runningRunOf(warehouse, [rowOf(`asked-${people}`)]);
      await reconcileContacts(warehouse, asking, signal);
      await end(asking);
      const figures = await rebuild(warehouse, { check: true, signal });
      expect(figures).toMatchObject({ differing: [] });
    },
  );
});
