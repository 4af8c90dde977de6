import { describe, expect, it } from 'vitest';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { drainInbox } from '../../../src/late-results/drain-deliveries.ts';
import { hashToken } from '../../../src/ledger/webhook-token.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { erase } from '../../../src/privacy/erasure/erase.ts';
import { refreshOpenPeople } from '../../../src/calls/batches/open-people.ts';
import { askedBy, openPage } from '../../../src/runs/pages/pages.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/end-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { putOnList } from '../../helpers/warehouse/put-on-list.ts';
import { outcomesOf, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile();

async function contact(contactId: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await warehouse.pool.query('select * from enriched_contacts where contact_id = $1', [
    contactId,
  ]);
  return rows[0] as Record<string, unknown> | undefined;
}

/** They fill the rest of a batch, and no other test knows them. */
const strangersFor = (world: string | number) =>
  Array.from({ length: 9 }, (_, index) => ({
    keys: [`email:f${world}-${index}@fill.example`],
    email: `f${world}-${index}@fill.example`,
    firstName: `F${index}`,
    lastName: 'Fill',
    contactId: `fill-${world}-${index}`,
  }));

describe('two people of one name at one employer', () => {
  const acme = { name: 'Acme Widgets', primary_domain: 'acme.example' };
  const locked = 'email_not_unlocked@domain.com';
  let people = 0;

  /** Two namesakes at one employer, and the one of them whom the service finds for both. */
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

  const strangers = () => strangersFor(`namesakes${people}`);

  it('namesakes at one employer both lose the person who fits both, in one call', async () => {
    const { first, second, person } = namesakes();
    const runId = await runningRunOf(warehouse, [first, second]);
    await answerBatch(warehouse, { runId }, () => [person, person]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['identity_mismatch', 'identity_mismatch']);
  });

  it.each([
    [1, 2],
    [2, 1],
  ])(
    'namesakes at one employer both lose the person who fits both, in two calls, batch %i first',
    async (...order) => {
      const { first, second, person } = namesakes();
      const runId = await runningRunOf(warehouse, [first, ...strangers(), second]);
      for (const batch of order)
        await answerBatch(warehouse, { runId, batch }, (asked) =>
          asked.map(({ identity }) => (identity.firstName === 'John' ? person : null)),
        );
      const outcomes = await outcomesOf(warehouse, runId);
      expect([outcomes[0], outcomes[10]]).toEqual(['identity_mismatch', 'identity_mismatch']);
      expect(await contact(first.contactId)).toBeUndefined();
      expect(await contact(second.contactId)).toBeUndefined();
      const { rows } = await warehouse.pool.query(
        `select q.reason from quarantined_people q join attempts using (attempt_id) where run_id = $1`,
        [runId],
      );
      expect(rows.map(({ reason }) => reason as string)).toEqual(
        Array(2).fill('another contact could be this person as well'),
      );
    },
  );

  it('a contact does not get the person if a namesake of another source is known from an earlier run', async () => {
    const { first, second, person } = namesakes();
    await runningRunOf(warehouse, [first], { source: 'hubspot' });
    const runId = await runningRunOf(warehouse, [second], { source: 'salesforce' });
    await answerBatch(warehouse, { runId }, () => [person]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['identity_mismatch']);
  });

  it('two namesakes lose their person when the second becomes known, until its run is undone', async () => {
    const { first, second, person } = namesakes();
    const earlier = await runningRunOf(warehouse, [first], { source: 'hubspot' });
    await answerBatch(warehouse, { runId: earlier }, () => [person]);
    expect(await contact(first.contactId)).toBeDefined();
    const later = await runningRunOf(warehouse, [second], { source: 'salesforce' });
    expect(await reconcileContacts(warehouse, later, signal)).toMatchObject({ withdrawn: 1 });
    await answerBatch(warehouse, { runId: later }, () => [person]);
    expect(await reconcileContacts(warehouse, later, signal)).toEqual({ filled: 0, withdrawn: 0 });
    expect(await contact(first.contactId)).toBeUndefined();
    expect(await contact(second.contactId)).toBeUndefined();
    await endRun(warehouse, later, 'finished', undefined);
    await undoRun(warehouse, later, note, signal);
    expect(await contact(first.contactId)).toBeDefined();
  });

  it('a row without credits says that its contact was filled by the call for another row', async () => {
    const { first, person } = namesakes();
    const profile = `linkedin.com/in/smith-${people}`;
    const other = { keys: [`linkedin:${profile}`], profileUrl: profile, contactId: `profile-${people}` };
    const runId = await runningRunOf(warehouse, [first, ...strangers(), other]);
    const found = { ...person, email: first.email, proflink_url: profile };
    await answerBatch(warehouse, { runId }, () => [found]);
    expect(await reconcileContacts(warehouse, runId, signal)).toMatchObject({ filled: 1 });
    await endRun(warehouse, runId, 'finished', { outcome: 'over_budget', reason: 'no credits were left' });
    expect(await contact(other.contactId)).toMatchObject({ person_id: person.id });
    const { rows } = await warehouse.pool.query(
      'select outcome, reason from run_rows where run_id = $1 and contact_id = $2',
      [runId, other.contactId],
    );
    expect(rows).toEqual([{ outcome: 'over_budget', reason: 'no credits were left; filled without a call' }]);
  });

  it('a partly readable person without a row goes to a contact with an identifier, not with a name', async () => {
    const { first, second, person } = namesakes();
    const found = { ...person, email: second.email, isPartlyRead: true };
    const [asked] = strangers();
    const runId = await runningRunOf(warehouse, [asked!]);
    await answerBatch(warehouse, { runId }, () => [found]);
    const { email: _, ...unaddressed } = first;
    const named = { ...unaddressed, keys: [`name:john partly|${people}`] };
    const laterRuns = await Promise.all([named, second].map((row) => runningRunOf(warehouse, [row])));
    for (const later of laterRuns) await reconcileContacts(warehouse, later, signal);
    expect(await contact(named.contactId)).toBeUndefined();
    expect(await contact(second.contactId)).toMatchObject({ person_id: person.id });
  });

  /** Plays the run of one contact. A row that is fresh needs no answer. */
  async function playRun(
    row: StagedRow,
    source: string,
    { person, isFresh = false }: { readonly person: Person | null; readonly isFresh?: boolean },
  ): Promise<string> {
    const seconds = isFresh ? 86_400 : 0;
    const freshness = { enrichedSeconds: seconds, notFoundSeconds: seconds };
    const runId = await runningRunOf(warehouse, [row], { source, freshness });
    await reconcileContacts(warehouse, runId, signal);
    if (isFresh) expect(await outcomesOf(warehouse, runId)).toEqual(['fresh']);
    else await answerBatch(warehouse, { runId }, () => [person]);
    await reconcileContacts(warehouse, runId, signal);
    await endRun(warehouse, runId, 'finished', undefined);
    return runId;
  }

  it('a fresh contact has no person by weak evidence while its only call is undone', async () => {
    const { first, person } = namesakes();
    await playRun({ ...first, contactId: `${first.contactId}-too` }, 'salesforce', { person });
    await playRun(first, 'hubspot', { person, isFresh: true });
    expect(await contact(first.contactId)).toBeUndefined();
    const asked = await playRun(first, 'hubspot', { person });
    expect(await contact(first.contactId)).toMatchObject({ run_id: asked });
    await undoRun(warehouse, asked, note, signal);
    expect(await contact(first.contactId)).toBeUndefined();
    await revertUndo(warehouse, asked, signal);
    expect(await contact(first.contactId)).toMatchObject({ run_id: asked });
  });

  it('a person whom only an undone run gave to a contact is a rival when a later run asks again', async () => {
    const { first, person } = namesakes();
    await playRun({ ...first, contactId: `${first.contactId}-too` }, 'salesforce', { person });
    const undone = await playRun(first, 'hubspot', { person });
    await undoRun(warehouse, undone, note, signal);
    await playRun(first, 'hubspot', { person: { ...person, id: `${person.id}-too` } });
    expect(await contact(first.contactId)).toBeUndefined();
  });

  it.each([
    ['before', [0, 1, 2]],
    ['after', [0, 2, 1]],
  ] as const)(
    'a contact gets its person if the record of a namesake became somebody else in an export %s its own',
    async (_when, order) => {
      const { first, second, person } = namesakes();
      const changed = { ...strangers()[0]!, contactId: first.contactId };
      const exports = [
        { row: first, source: 'hubspot' },
        { row: changed, source: 'hubspot' },
        { row: second, source: 'salesforce' },
      ];
      const runs: string[] = [];
      for (const index of order) {
        const { row, source } = exports[index]!;
        runs[index] = await playRun(row, source, { person: row === changed ? null : person });
      }
      expect(await contact(second.contactId)).toMatchObject({ person_id: person.id });
      expect(await contact(first.contactId)).toBeUndefined();
      await undoRun(warehouse, runs[1]!, note, signal);
      expect(await contact(second.contactId)).toBeUndefined();
      await revertUndo(warehouse, runs[1]!, signal);
      expect(await contact(second.contactId)).toMatchObject({ person_id: person.id });
    },
  );

  it.each([
    ['before', [0, 1, 2]],
    ['after', [0, 2, 1]],
  ] as const)(
    'a contact that moved to another employer loses its person to a namesake, in an export %s the one of the namesake',
    async (_when, order) => {
      const { first, second, person } = namesakes();
      const keys = [`email:moved${people}@globex.example`];
      const moved = { ...first, keys, email: keys[0]!.slice('email:'.length), organizationName: 'Globex' };
      const exports = [
        { row: first, source: 'hubspot' },
        { row: moved, source: 'hubspot' },
        { row: second, source: 'salesforce' },
      ];
      for (const index of order) {
        const { row, source } = exports[index]!;
        await playRun(row, source, { person: row === moved ? null : person });
      }
      expect(await contact(first.contactId)).toBeUndefined();
      expect(await contact(second.contactId)).toMatchObject({ person_id: person.id });
    },
  );

  it('a contact gets its person in spite of a later fresh row when the record of a namesake changes', async () => {
    const { first, second, person } = namesakes();
    await playRun(second, 'salesforce', { person });
    await playRun(second, 'salesforce', { person, isFresh: true });
    await playRun(first, 'hubspot', { person });
    expect(await contact(second.contactId)).toBeUndefined();
    await playRun({ ...strangers()[1]!, contactId: first.contactId }, 'hubspot', { person: null });
    expect(await contact(second.contactId)).toMatchObject({ person_id: person.id });
  });

  it('a contact loses the person whom an undo gives back if its new cells name somebody with a rival', async () => {
    const { first, second, person } = namesakes();
    const [zoe, profileUrl] = [strangers()[2]!, `linkedin.com/in/zoe-${people}`];
    const former = {
      ...zoe,
      keys: [...zoe.keys, `profile:${profileUrl}`],
      profileUrl,
      contactId: first.contactId,
    };
    const found = { id: `Z-${people}`, first_name: 'F2', last_name: 'Fill', proflink_url: profileUrl };
    await playRun(former, 'hubspot', { person: found });
    const other = { id: `O-${people}`, first_name: 'F2', last_name: 'Fill', email: zoe.email };
    const undone = await playRun({ ...zoe, contactId: `${first.contactId}-too` }, 'salesforce', {
      person: other,
    });
    expect(await contact(first.contactId)).toBeUndefined();
    await playRun(second, 'salesforce', { person: null });
    await playRun(first, 'hubspot', { person });
    await undoRun(warehouse, undone, note, signal);
    expect(await contact(first.contactId)).toBeUndefined();
  });

  it('row_results gives the reason of an enriched row without data while its contact has no person', async () => {
    const { first, second, person } = namesakes();
    const earlier = await runningRunOf(warehouse, [first, ...strangers()], { source: 'hubspot' });
    await answerBatch(warehouse, { runId: earlier }, (asked) =>
      asked.map(({ identity }) => (identity.firstName === 'John' ? person : null)),
    );
    const resultOf = async (): Promise<unknown> => {
      const { rows } = await warehouse.pool.query(
        `select outcome, reason, lost_reason, lost_at is not null as is_lost
         from row_results where run_id = $1 and row_number = 1`,
        [earlier],
      );
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

  it('a contact keeps its person beside a namesake if an identifier shows the person', async () => {
    const { first, second, person } = namesakes();
    const earlier = await runningRunOf(warehouse, [first], { source: 'hubspot' });
    await answerBatch(warehouse, { runId: earlier }, () => [{ ...person, personal_emails: [first.email] }]);
    const later = await runningRunOf(warehouse, [second], { source: 'salesforce' });
    expect(await reconcileContacts(warehouse, later, signal)).toMatchObject({ withdrawn: 0 });
    expect(await contact(first.contactId)).toBeDefined();
  });

  it('an identifier decides between two namesakes: its contact gets the person without another call', async () => {
    const { first, second, person } = namesakes();
    const runId = await runningRunOf(warehouse, [first, ...strangers(), second]);
    await answerBatch(warehouse, { runId }, (asked) =>
      asked.map(({ identity }) =>
        identity.firstName === 'John' ? { ...person, personal_emails: [second.email] } : null,
      ),
    );
    const { options } = await getRun(warehouse, runId);
    await refreshOpenPeople(warehouse.database, { runId, batches: [2] }, askedBy(options));
    await reconcileContacts(warehouse, runId, signal);
    const outcomes = await outcomesOf(warehouse, runId);
    expect([outcomes[0], outcomes[10]]).toEqual(['identity_mismatch', 'fresh']);
    expect(await contact(second.contactId)).toMatchObject({ person_id: person.id });
    expect(await contact(first.contactId)).toBeUndefined();
  });

  it('a contact keeps its person beside a namesake at another employer', async () => {
    const { first, second, person } = namesakes();
    const elsewhere = {
      ...second,
      keys: ['email:j@globex.example'],
      email: 'j@globex.example',
      organizationName: 'Globex',
    };
    const runId = await runningRunOf(warehouse, [first, elsewhere]);
    await answerBatch(warehouse, { runId }, () => [person, null]);
    expect((await outcomesOf(warehouse, runId))[0]).toBe('enriched');
  });

  it('namesakes with the same address in two sources are one person', async () => {
    const { first, person } = namesakes();
    await runningRunOf(warehouse, [first], { source: 'hubspot' });
    const runId = await runningRunOf(warehouse, [{ ...first, contactId: '0031' }], { source: 'salesforce' });
    await answerBatch(warehouse, { runId }, () => [person]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched']);
  });
});

describe('a person of another call', () => {
  let worlds = 0;

  /** A row, and two people who fit it by name and employer. No export names the second. */
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

  it.each([true, false])(
    'a person named later makes a namesake doubtful, until undo or erasure (with an id: %s)',
    async (hasId) => {
      const { row, otherRow, person, namesake } = world();
      const first = await runningRunOf(warehouse, [row], { source: 'hubspot' });
      await answerBatch(warehouse, { runId: first }, () => [person]);
      await reconcileContacts(warehouse, first, signal);
      await endRun(warehouse, first, 'finished', undefined);
      expect(await contact(row.contactId)).toBeDefined();
      const second = await runningRunOf(warehouse, [otherRow], { source: 'salesforce' });
      await answerBatch(warehouse, { runId: second }, () => [hasId ? namesake : { ...namesake, id: null }]);
      expect(await contact(row.contactId)).toBeUndefined();
      await reconcileContacts(warehouse, second, signal);
      expect(await contact(row.contactId)).toBeUndefined();
      await endRun(warehouse, second, 'finished', undefined);
      await undoRun(warehouse, second, note, signal);
      expect(await contact(row.contactId)).toBeDefined();
      await revertUndo(warehouse, second, signal);
      expect(await contact(row.contactId)).toBeUndefined();
      await erase(warehouse, [`email:${namesake.email}`], note);
      expect(await contact(row.contactId)).toBeDefined();
    },
  );

  it('a person named earlier makes a namesake doubtful, until that run is undone', async () => {
    const { row, otherRow, person, namesake } = world();
    const first = await runningRunOf(warehouse, [otherRow], { source: 'salesforce' });
    await answerBatch(warehouse, { runId: first }, () => [namesake]);
    await endRun(warehouse, first, 'finished', undefined);
    const second = await runningRunOf(warehouse, [row], { source: 'hubspot' });
    await answerBatch(warehouse, { runId: second }, () => [person]);
    expect(await outcomesOf(warehouse, second)).toEqual(['identity_mismatch']);
    await reconcileContacts(warehouse, second, signal);
    await endRun(warehouse, second, 'finished', undefined);
    await undoRun(warehouse, first, note, signal);
    expect(await contact(row.contactId)).toMatchObject({ person_id: person.id });
  });

  it('a row with the profile of one person and the address of another loses the first person', async () => {
    const { row, otherRow, person, namesake } = world();
    const profile = `linkedin.com/in/ida-${worlds}`;
    const runId = await runningRunOf(warehouse, [
      { ...row, keys: [...row.keys, `profile:${profile}`], profileUrl: profile },
    ]);
    await answerBatch(warehouse, { runId }, () => [{ ...person, proflink_url: `https://${profile}` }]);
    expect(await contact(row.contactId)).toBeDefined();
    const later = await runningRunOf(warehouse, [otherRow]);
    await answerBatch(warehouse, { runId: later }, () => [{ ...namesake, email: row.email }]);
    expect(await contact(row.contactId)).toBeUndefined();
  });

  it.each([true, false])(
    'a person of another call goes to a fitting row at the end of the run (with an id: %s)',
    async (hasId) => {
      const { row, otherRow, person } = world();
      const runId = await runningRunOf(warehouse, [row, ...strangersFor(worlds), otherRow]);
      for (const batch of [1, 2])
        await answerBatch(warehouse, { runId, batch }, (asked) =>
          asked.map(({ identity }) =>
            identity.firstName === 'Otto' ? { ...person, id: hasId ? person.id : null } : null,
          ),
        );
      expect(await contact(row.contactId)).toBeUndefined();
      expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 1, withdrawn: 0 });
      expect(await contact(row.contactId)).toMatchObject({ last_name: person.last_name });
    },
  );

  it("a person of another call replaces a contact's former person when a later run asks again", async () => {
    const { row, person, namesake } = world();
    const freshness = { enrichedSeconds: 0, notFoundSeconds: 0 };
    for (const found of [person, namesake]) {
      const runId = await runningRunOf(warehouse, [row], { freshness });
      await answerBatch(warehouse, { runId }, () => [{ ...found, personal_emails: [row.email] }]);
      await reconcileContacts(warehouse, runId, signal);
      await endRun(warehouse, runId, 'finished', undefined);
      expect(await contact(row.contactId)).toMatchObject({ person_id: found.id });
    }
  });
});

describe('a contact with an address that two people share', () => {
  it('a shared address decides nothing between a stored person and the person whom the same run finds', async () => {
    const shared = 'vegas@home.example';
    const freshness = { enrichedSeconds: 0, notFoundSeconds: 0 };
    const [stored, found] = ['Ben', 'Ada'].map((name) => ({
      id: `vega-${name}`,
      first_name: name,
      last_name: 'Vega',
      email: `${name.toLowerCase()}@vega.example`,
      personal_emails: [shared],
    }));
    const row = (email: string) => ({ keys: [`email:${email}`], email, contactId: email });
    const first = await runningRunOf(warehouse, [row(stored!.email)], { source: 'salesforce' });
    await answerBatch(warehouse, { runId: first }, () => [stored!]);
    await endRun(warehouse, first, 'finished', undefined);

    const second = await runningRunOf(warehouse, [row(shared)], { source: 'hubspot', freshness });
    await reconcileContacts(warehouse, second, signal);
    expect(await contact(shared)).toMatchObject({ person_id: stored!.id });
    await answerBatch(warehouse, { runId: second }, () => [found!]);
    await reconcileContacts(warehouse, second, signal);

    expect(await contact(shared)).toBeUndefined();
  });
});

describe('a contact whose CRM record became somebody else', () => {
  it('a contact that became another person keeps nothing of the former person, without service ids', async () => {
    const ada = { email: 'ada@one.example', firstName: 'Ada', lastName: 'Novak', contactId: 'reused' };
    const before = await runningRunOf(warehouse, [{ keys: ['email:ada@one.example'], ...ada }]);
    await answerBatch(warehouse, { runId: before }, () => [
      {
        id: null,
        first_name: 'Ada',
        last_name: 'Novak',
        email: 'ada@one.example',
        title: 'CEO',
        city: 'Graz',
        proflink_url: 'http://www.linkedin.com/in/ada-novak',
      },
    ]);
    const bob = { email: 'bob@two.example', firstName: 'Bob', lastName: 'Quist', contactId: 'reused' };
    const after = await runningRunOf(warehouse, [{ keys: ['email:bob@two.example'], ...bob }]);
    await answerBatch(warehouse, { runId: after }, () => [
      { id: '', first_name: 'Bob', last_name: 'Quist', email: 'bob@two.example' },
    ]);
    expect(await contact('reused')).toMatchObject({
      first_name: 'Bob',
      email: 'bob@two.example',
      title: null,
      city: null,
      linkedin_url: null,
    });
  });
});

describe('a contact whose newest row is suppressed', () => {
  const former = (contactId: string) => ({
    keys: [`email:ada.${contactId}@one.example`],
    email: `ada.${contactId}@one.example`,
    firstName: 'Ada',
    lastName: 'Novak',
    contactId,
  });
  const heir = (contactId: string) => ({
    keys: [`email:zoe.${contactId}@two.example`],
    email: `zoe.${contactId}@two.example`,
    firstName: 'Zoe',
    lastName: 'Quist',
    contactId,
  });
  const personOf = ({ email, firstName, lastName }: ReturnType<typeof former>) => ({
    id: `P-${email}`,
    first_name: firstName,
    last_name: lastName,
    email,
  });

  async function enriched(row: ReturnType<typeof former>, source: string): Promise<void> {
    const runId = await runningRunOf(warehouse, [row], { source });
    await answerBatch(warehouse, { runId }, () => [personOf(row)]);
    await reconcileContacts(warehouse, runId, signal);
    await endRun(warehouse, runId, 'finished', undefined);
  }

  const listed = (email: string): Promise<unknown> => putOnList(warehouse, `email:${email}`);

  it.each(['opted out', 'on the list', 'on the list since the plan'])(
    'a contact loses its person by a suppressed row of another person (%s) until the run is undone',
    async (how) => {
      const contactId = `heir-${how.length}`;
      await enriched(former(contactId), 'crm');
      if (how === 'on the list') await listed(heir(contactId).email);
      const row = { ...heir(contactId), optedOut: how === 'opted out' };
      const runId = await runningRunOf(warehouse, [row], { source: 'crm' });
      if (how === 'on the list since the plan') {
        await listed(heir(contactId).email);
        const { options } = await getRun(warehouse, runId);
        await openPage(warehouse, runId, 1, askedBy(options));
      }
      expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
      expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 0, withdrawn: 1 });
      expect(await contact(contactId)).toBeUndefined();
      expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 0, withdrawn: 0 });
      await endRun(warehouse, runId, 'finished', undefined);
      await undoRun(warehouse, runId, note, signal);
      expect(await contact(contactId)).toMatchObject({ first_name: 'Ada' });
    },
  );

  it('a contact loses its person by a suppressed row of another known person, and gets no other person', async () => {
    await enriched(former('known'), 'crm');
    await enriched({ ...heir('known'), contactId: 'known-elsewhere' }, 'crm');
    const runId = await runningRunOf(warehouse, [{ ...heir('known'), optedOut: true }], { source: 'crm' });
    expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 0, withdrawn: 1 });
    expect(await contact('known')).toBeUndefined();
  });

  it.each([[[former, heir]], [[heir, former]]])(
    'a contact loses its person by rows of its record that name different people, and gets no person (%#)',
    async (people) => {
      const id = `contested-${people[0] === heir ? 'heir' : 'former'}`;
      await enriched(former(id), 'crm');
      await enriched({ ...heir(id), contactId: `${id}-elsewhere` }, 'crm');
      const runId = await runningRunOf(
        warehouse,
        people.map((rowOf) => rowOf(id)),
        { source: 'crm' },
      );
      expect(await outcomesOf(warehouse, runId)).toEqual(['duplicate', 'duplicate']);
      for (const withdrawn of [1, 0])
        expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 0, withdrawn });
      expect(await contact(id)).toBeUndefined();
    },
  );

  it('a contact with a suppressed row gets no person by a later row of the same file', async () => {
    const [first, repeated] = [{ ...heir('twice'), optedOut: true }, former('twice')];
    const runId = await runningRunOf(warehouse, [first, repeated], { source: 'crm' });
    expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed', 'duplicate']);
    await endRun(warehouse, runId, 'finished', undefined);
    await enriched(former('twice'), 'crm-2');
    const { rows } = await warehouse.pool.query(
      "select source from enriched_contacts where contact_id = 'twice'",
    );
    expect(rows).toEqual([{ source: 'crm-2' }]);
  });

  it.each(['opted out', 'on the list'])(
    'a contact keeps its person by an unchanged suppressed row (%s)',
    async (how) => {
      const contactId = `same-${how.length}`;
      await enriched(former(contactId), 'crm');
      if (how === 'on the list') await listed(former(contactId).email);
      const row = { ...former(contactId), optedOut: how === 'opted out' };
      const runId = await runningRunOf(warehouse, [row], { source: 'crm' });
      expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
      expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 0, withdrawn: 0 });
      expect(await contact(contactId)).toMatchObject({ first_name: 'Ada' });
    },
  );
});

describe('a contact of two runs at once', () => {
  it('a contact of two runs gets the person of the later begun run, even when the other run ends last', async () => {
    const ada = { keys: ['email:ada@at-once.example'], email: 'ada@at-once.example', firstName: 'Ada' };
    const zoe = { keys: ['email:zoe@at-once.example'], email: 'zoe@at-once.example', firstName: 'Zoe' };
    const runs = [];
    for (const row of [ada, zoe])
      runs.push(
        await runningRunOf(warehouse, [{ ...row, lastName: 'Novak', contactId: 'at-once' }], {
          source: 'crm',
        }),
      );
    for (const [index, { email, firstName }] of [
      [1, zoe],
      [0, ada],
    ] as const) {
      const person = { id: `P-${email}`, first_name: firstName, last_name: 'Novak', email };
      await answerBatch(warehouse, { runId: runs[index]! }, () => [person]);
      await reconcileContacts(warehouse, runs[index]!, signal);
      await endRun(warehouse, runs[index]!, 'finished', undefined);
      expect(await contact('at-once')).toMatchObject({ first_name: 'Zoe' });
    }
    await undoRun(warehouse, runs[1]!, note, signal);
    expect(await contact('at-once')).toMatchObject({ first_name: 'Ada' });
    await revertUndo(warehouse, runs[1]!, signal);
    expect(await contact('at-once')).toMatchObject({ first_name: 'Zoe' });
  });
});

describe('a contact of a run whose undo is taken back', () => {
  const ada = {
    keys: ['email:ada@revert.example'],
    email: 'ada@revert.example',
    firstName: 'Ada',
    lastName: 'Novak',
    contactId: 'reverted',
  };

  async function runOf(row: typeof ada, source: string, found: boolean): Promise<string> {
    const freshness = { enrichedSeconds: 0, notFoundSeconds: 0 };
    const runId = await runningRunOf(warehouse, [row], { source, freshness });
    const person = { id: `P-${row.email}`, first_name: row.firstName, last_name: 'Novak', email: row.email };
    await answerBatch(warehouse, { runId }, () => [found ? person : null]);
    await reconcileContacts(warehouse, runId, signal);
    await endRun(warehouse, runId, 'finished', undefined);
    return runId;
  }

  it('a reverted undo restores the decision of a contact although another run decides meanwhile', async () => {
    const first = await runOf(ada, 'crm-1', true);
    const second = await runOf({ ...ada, contactId: 'reverted-too' }, 'crm-2', true);
    const decisions = () =>
      warehouse.pool.query("select * from contacts where contact_id like 'reverted%' order by contact_id");
    const { rows: before } = await decisions();
    await undoRun(warehouse, first, note, signal);
    expect(await revertUndo(warehouse, first, AbortSignal.abort())).toEqual({ complete: false });
    await reconcileContacts(warehouse, second, signal);
    await revertUndo(warehouse, first, signal);
    expect((await decisions()).rows).toEqual(before);
  });

  /** A contact that `own` makes somebody else. Other contacts are these people, one of them by `other`. */
  async function becomesAnother(name: string) {
    const row = (first: string, contactId: string) => {
      const email = `${first}@${name}.example`;
      return { ...ada, email, keys: [`email:${email}`], contactId };
    };
    await runOf(row('ada', name), `${name}-1`, true);
    await runOf(row('zoe', `${name}-zoe`), `${name}-2`, true);
    const own = await runOf(row('zoe', name), `${name}-1`, true);
    const other = await runOf(row('ada', `${name}-ada`), `${name}-2`, true);
    const decisions = async () => {
      const { rows } = await warehouse.pool.query(
        `select * from contacts where contact_id like $1 || '%' order by contact_id`,
        [name],
      );
      return rows;
    };
    return { own, other, decisions, before: await decisions() };
  }

  it('a reverted undo restores the decision of a contact although another undo is reverted meanwhile', async () => {
    const { own, other, decisions, before } = await becomesAnother('half');
    for (const runId of [own, other]) await undoRun(warehouse, runId, note, signal);
    expect(await revertUndo(warehouse, own, AbortSignal.abort())).toEqual({ complete: false });
    await revertUndo(warehouse, other, signal);
    await revertUndo(warehouse, own, signal);
    expect(await decisions()).toEqual(before);
  });

  it('a reverted undo restores the decision of a contact although a run decides about its former person', async () => {
    const { own, other, decisions, before } = await becomesAnother('former');
    await undoRun(warehouse, own, note, signal);
    expect(await revertUndo(warehouse, own, AbortSignal.abort())).toEqual({ complete: false });
    await reconcileContacts(warehouse, other, signal);
    await revertUndo(warehouse, own, signal);
    expect(await decisions()).toEqual(before);
  });

  it.each(['revert', 'reconcile'] as const)(
    'a reverted undo restores the decision of a contact although an older row decided about it by a %s meanwhile',
    async (how) => {
      const row = { ...ada, email: `ada@${how}.example`, keys: [`email:ada@${how}.example`], contactId: how };
      await runOf(row, `${how}-1`, false);
      const own = await runOf(row, `${how}-1`, true);
      const other = await runOf({ ...row, contactId: `${how}-other` }, `${how}-2`, true);
      const decision = async () =>
        (await warehouse.pool.query('select * from contacts where contact_id = $1', [how])).rows;
      const before = await decision();
      for (const runId of [other, own]) await undoRun(warehouse, runId, note, signal);
      if (how === 'revert') await revertUndo(warehouse, other, signal);
      else await runOf({ ...row, contactId: `${how}-third` }, `${how}-3`, true);
      expect(await decision()).not.toEqual(before);
      await revertUndo(warehouse, own, signal);
      expect(await decision()).toEqual(before);
    },
  );

  it('reverted undos give a contact its person back in any order although its newest row has no address', async () => {
    const cells = { firstName: 'Cleo', lastName: 'Novak', organizationName: 'Firm Works' };
    const byEmail = { keys: ['email:cleo@order.example'], email: 'cleo@order.example' };
    const byName = { keys: ['name:cleo novak|firm works'] };
    const cleo = {
      id: 'P-order',
      first_name: 'Cleo',
      last_name: 'Novak',
      email: 'cleo@order.example',
      organization: { name: 'Firm Works' },
    };
    const answered = async (row: object, source: string, found: boolean): Promise<string> => {
      const freshness = { enrichedSeconds: 0, notFoundSeconds: 0 };
      const runId = await runningRunOf(warehouse, [row as typeof ada], { source, freshness });
      await answerBatch(warehouse, { runId }, () => [found ? cleo : null]);
      await reconcileContacts(warehouse, runId, signal);
      await endRun(warehouse, runId, 'finished', undefined);
      return runId;
    };
    const first = await answered({ ...cells, ...byEmail, contactId: 'ordered' }, 'h', true);
    const other = await answered({ ...byEmail, contactId: 'ordered-other' }, 'c', true);
    await answered({ ...cells, ...byName, contactId: 'ordered' }, 'h', true);
    expect(await contact('ordered')).toMatchObject({ person_id: 'P-order' });
    for (const runId of [other, first]) await undoRun(warehouse, runId, note, signal);
    for (const runId of [other, first]) await revertUndo(warehouse, runId, signal);
    expect(await contact('ordered')).toMatchObject({ person_id: 'P-order' });
  });

  it('a reverted undo gives a contact no person back if its record names another person in a later run', async () => {
    const row = { ...ada, contactId: 'moved', email: 'ada@moved.example', keys: ['email:ada@moved.example'] };
    const first = await runOf(row, 'crm-3', true);
    await undoRun(warehouse, first, note, signal);
    const zoe = { ...row, email: 'zoe@moved.example', keys: ['email:zoe@moved.example'], firstName: 'Zoe' };
    await runOf({ ...zoe, lastName: 'Quist' }, 'crm-3', false);
    await revertUndo(warehouse, first, signal);
    expect(await contact('moved')).toBeUndefined();
  });
});

describe('a contact whose new person is erased', () => {
  it('a contact whose new person is erased does not become its former person again', async () => {
    const ada = { email: 'ada@erased.example', firstName: 'Ada', lastName: 'Novak', contactId: 'inherited' };
    const zoe = { email: 'zoe@erased.example', firstName: 'Zoe', lastName: 'Quist', contactId: 'inherited' };
    for (const row of [ada, zoe]) {
      const runId = await runningRunOf(warehouse, [{ keys: [`email:${row.email}`], ...row }]);
      await reconcileContacts(warehouse, runId, signal);
      const person = { id: 'P-erased', first_name: 'Ada', last_name: 'Novak', email: ada.email };
      await answerBatch(warehouse, { runId }, () => [row === ada ? person : null]);
      await endRun(warehouse, runId, 'finished', undefined);
    }
    expect(await contact('inherited')).toBeUndefined();
    await erase(warehouse, [`email:${zoe.email}`], note);
    expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differing: [] });
    expect(await contact('inherited')).toBeUndefined();
  });
});

describe('a person on the suppression list', () => {
  it('a person on the suppression list is not written if only a personal address in the answer is listed', async () => {
    await putOnList(warehouse, 'email:ada.private@home.example');
    const row = { email: 'ada7@one.example', firstName: 'Ada', lastName: 'Seven', contactId: 'listed' };
    const runId = await runningRunOf(warehouse, [{ keys: ['email:ada7@one.example'], ...row }]);
    const { attemptId } = await answerBatch(warehouse, { runId }, () => [
      {
        id: 'P7',
        first_name: 'Ada',
        last_name: 'Seven',
        email: 'ada7@one.example',
        personal_emails: ['Ada.Private@home.example'],
      },
    ]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
    expect(await contact('listed')).toBeUndefined();
    const cells = await warehouse.pool.query(
      'select email, first_name, keys from run_rows where run_id = $1',
      [runId],
    );
    expect(cells.rows).toEqual([{ email: null, first_name: null, keys: [] }]);
    const bodies = await warehouse.pool.query('select 1 from raw_answers where attempt_id = $1', [attemptId]);
    expect(bodies.rows).toEqual([]);
  });
});

it('the duplicates of a row lose their cells if the answer shows a person on the suppression list', async () => {
  await putOnList(warehouse, 'person:P8');
  const row = {
    firstName: 'Ada',
    lastName: 'Eight',
    organizationName: 'Orbit',
    keys: ['name:ada eight|orbit'],
  };
  const rows = [
    row,
    { ...row, contactId: 'again' },
    { ...row, lastName: 'Nine', keys: ['name:ada nine|orbit'] },
  ];
  const runId = await runningRunOf(warehouse, rows);
  await answerBatch(warehouse, { runId }, () => [
    { id: 'P8', first_name: 'Ada', last_name: 'Eight', organization: { name: 'Orbit' } },
    null,
  ]);
  const { rows: written } = await warehouse.pool.query(
    'select outcome, last_name, reason from run_rows where run_id = $1 order by row_number',
    [runId],
  );
  expect(written).toMatchObject([
    { outcome: 'suppressed', last_name: null },
    { outcome: 'suppressed', last_name: null, reason: 'the same person is on the suppression list by row 1' },
    { outcome: 'not_found', last_name: 'Nine' },
  ]);
});

describe('a row of very long names', () => {
  it('a row of very long names does not stop its page', async () => {
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
    expect(await openPage(warehouse, runId, 1, askedBy(options))).toEqual({ batches: [1], people: 2 });
  });
});

describe('a late result with an id that the answer did not have', () => {
  const waterfall = ['email', 'phone'] as const;

  async function deliver(token: string, people: readonly object[]): Promise<void> {
    const body = { request_id: '9', target_fields: ['emails'], credits_consumed: 3, people };
    await storeDeliveries(warehouse, [
      {
        tokenHash: hashToken(token),
        body: Buffer.from(JSON.stringify(body)),
        contentEncoding: undefined,
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

  it('a late result with a new id goes to no contact by an address that only the CRM has', async () => {
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

  it('a late result with a new id goes to the contact whose address the answer confirmed', async () => {
    const row = { email: 'boss@acme.example', firstName: 'Cy', lastName: 'Ek', contactId: 'cy' };
    const runId = await runningRunOf(warehouse, [{ keys: ['email:boss@acme.example'], ...row }], {
      waterfall,
    });
    const { attemptId, token } = await answerBatch(warehouse, { runId, waterfall }, () => [
      { id: 'P-CY', first_name: 'Cy', last_name: 'Ek', email: 'boss@acme.example' },
    ]);
    await deliver(token!, [{ ...stranger, emails: [{ email: 'boss@acme.example' }] }]);
    await drainInbox(warehouse, { attemptId }, new AbortController().signal);
    expect(await contact('cy')).toMatchObject({ email: 'boss@acme.example', phone: '+14155550999' });
  });
});
