import { afterAll, expect, it } from 'vitest';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { findContactsWithoutPerson, recordDecision } from '../../../src/people/decisions/reviews.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { prune } from '../../../src/privacy/prune.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, testNote, noSignal, neverFresh } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf, endPlayedRun, playRun } from '../../helpers/warehouse/scripted-calls.ts';
import { expectRebuildEqual } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
let companies = 0;

afterAll(() => expectRebuildEqual(warehouse));

/** Two people of one name at a company, and its shared mailbox. */
function company() {
  companies += 1;
  const domain = `vega${companies}.example`;
  const organization = { name: `Vega ${companies}`, primary_domain: domain };
  const called = { first_name: 'Lena', last_name: `Vega${'abcdefghijklmnopqrstuvwxyz'[companies]!}` };
  const named = (id: string): Person => ({
    ...called,
    id: `${id}-${companies}`,
    email: `${id}@${domain}`,
    proflink_url: `linkedin.com/in/${id}-${companies}`,
    organization,
  });
  const name = { firstName: called.first_name, lastName: called.last_name };
  return {
    lena: named('lena'),
    other: named('other'),
    id: (letter: string) => `${letter}-${companies}`,
    shared: { email: `info@${domain}` },
    byAddress: { ...name, email: `lena@${domain}` },
    byCompany: { ...name, organizationName: organization.name },
    otherName: { firstName: 'Boris', lastName: 'Kuhn', email: `lena@${domain}` },
  };
}

/** Plays the run of one contact, whose call returns people. */
async function play(contactId: string, identity: Identity, people: readonly Person[]) {
  const runId = await playRun(warehouse, [{ ...identity, contactId }], people, { freshness: neverFresh });
  return { outcome: (await outcomesOf(warehouse, runId))[0] };
}

async function decide(verdict: 'confirmed' | 'rejected' | 'withdrawn', contactId: string, person: Person) {
  const rows = await warehouse.query<{ source: string }>`
    select source from runs join run_rows using (run_id) where contact_id = ${contactId}
    union select source from contact_records where contact_id = ${contactId}`;
  return recordDecision(
    warehouse,
    { source: rows[0]!.source, contactId, personId: person.id!, verdict },
    testNote,
  );
}

async function personOf(contactId: string): Promise<{ id: string; evidence: string } | null> {
  const rows = await warehouse.query<{ id: string; evidence: string }>`
    select e.person_id as id, c.evidence from enriched_contacts e join contacts c using (source, contact_id)
    where contact_id = ${contactId}`;
  return rows[0] ?? null;
}

async function operationsOf(contactId: string): Promise<string[]> {
  const rows = await warehouse.query<{ operation: string }>`
    select operation from changes where contact_id = ${contactId} order by change_id`;
  return rows.map(({ operation }) => operation);
}

it.each(['fresh', 'cancelled', 'over_budget', 'in_flight', 'rejected', 'unknown'])(
  'findContactsWithoutPerson() lists a person who was not assigned to a row with the outcome %s',
  async (outcome) => {
    const { lena, byAddress, otherName, id } = company();
    await play(id('a'), byAddress, [lena]);
    const runId = await runningRunOf(warehouse, [{ ...otherName, contactId: id('b') }]);
    await warehouse.query`update run_rows set outcome = ${outcome} where run_id = ${runId}`;
    await endPlayedRun(warehouse, runId);
    const withheld = await findContactsWithoutPerson(warehouse.database, { source: undefined, limit: 100 });
    expect(withheld.filter((each) => each.run_id === runId)).toMatchObject([
      { contact_id: id('b'), person_id: lena.id },
    ]);
  },
);

it('a contact with only a shared mailbox has the person confirmed by the operator, until a withdrawal', async () => {
  const { lena, shared, id } = company();
  expect(await play(id('a'), shared, [lena])).toMatchObject({ outcome: 'identity_mismatch' });
  expect(await decide('confirmed', id('a'), lena)).toMatchObject({
    isNew: true,
    personBefore: null,
    personNow: lena.id,
  });
  expect(await personOf(id('a'))).toEqual({ id: lena.id, evidence: 'confirmed' });
  expect(await decide('confirmed', id('a'), lena)).toMatchObject({ isNew: false, personNow: lena.id });
  expect(await decide('withdrawn', id('a'), lena)).toMatchObject({
    personBefore: lena.id,
    personNow: null,
  });
  expect(await operationsOf(id('a'))).toEqual(['upsert', 'delete']);
});

it('a person confirmed for a contact of another name stays until the name of the contact changes', async () => {
  const { lena, otherName, id } = company();
  await play(id('a'), otherName, [lena]);
  expect(await personOf(id('a'))).toBeNull();
  await decide('confirmed', id('a'), lena);
  await play(id('a'), { ...otherName, organizationName: 'Elsewhere' }, [lena]);
  expect(await personOf(id('a'))).toMatchObject({ id: lena.id });
  await play(id('a'), { ...otherName, firstName: 'Ivo' }, [lena]);
  expect(await personOf(id('a'))).toBeNull();
});

it('a person confirmed by the operator stays when a later call finds another person for the contact', async () => {
  const { lena, other, byAddress, shared, id } = company();
  await play(id('a'), shared, [lena]);
  await play(id('b'), byAddress, [lena]);
  await decide('confirmed', id('b'), lena);
  const { outcome } = await play(id('b'), byAddress, [{ ...other, email: lena.email! }]);
  expect(outcome).toBe('identity_mismatch');
  expect(await personOf(id('b'))).toMatchObject({ id: lena.id });
});

it('a person rejected by the operator for a contact is not assigned to this contact by later calls', async () => {
  const { lena, byAddress, id } = company();
  await play(id('a'), byAddress, [lena]);
  await decide('rejected', id('a'), lena);
  expect(await play(id('a'), byAddress, [lena])).toMatchObject({ outcome: 'identity_mismatch' });
  await play(id('b'), byAddress, [lena]);
  expect([await personOf(id('a')), await personOf(id('b'))]).toMatchObject([null, { id: lena.id }]);
});

it.each(['staging', 'rows'] as const)(
  'withdrawing a rejection assigns the person again, also after retention has removed old data (%s)',
  async (retained) => {
    const { lena, byAddress, id } = company();
    await play(id('a'), byAddress, [lena]);
    await decide('rejected', id('a'), lena);
    await prune(warehouse, { [retained]: 0 }, noSignal);
    expect(await decide('withdrawn', id('a'), lena)).toMatchObject({
      personBefore: null,
      personNow: lena.id,
    });
    expect(await personOf(id('a'))).toMatchObject({ id: lena.id, evidence: 'email' });
  },
);

const decisionsOf = async (contactId: string) => {
  const rows = await warehouse.query<{ verdict: string }>`
    select verdict from contact_decisions where contact_id = ${contactId} order by decision_id`;
  return rows.map(({ verdict }) => verdict);
};

it('erasing a person removes a contact confirmed for the person, its decisions and its rows', async () => {
  const { lena, shared, id } = company();
  await play(id('a'), shared, [lena]);
  await decide('confirmed', id('a'), lena);
  await erase(warehouse, [`person:${lena.id}`], testNote);
  expect(await personOf(id('a'))).toBeNull();
  expect(await decisionsOf(id('a'))).toEqual([]);
  expect(await warehouse.query`select from run_rows where contact_id = ${id('a')}`).toEqual([]);
});

it('a row is fresh if the person confirmed for its contact is fresh', async () => {
  const { lena, byAddress, shared, id } = company();
  await play(id('b'), byAddress, [lena]);
  await play(id('a'), shared, []);
  await warehouse.query`
    delete from lookup_history where key_hash = key_hash(${`email:${shared.email}`}, 'test')`;
  await decide('confirmed', id('a'), lena);
  const row = { ...shared, contactId: id('a') };
  const fresh = await runningRunOf(warehouse, [row]);
  expect(await outcomesOf(warehouse, fresh)).toEqual(['fresh']);
  await endPlayedRun(warehouse, fresh);
  await decide('withdrawn', id('a'), lena);
  const open = await runningRunOf(warehouse, [row]);
  expect(await outcomesOf(warehouse, open)).toEqual([null]);
  await answerBatch(warehouse, { runId: open }, () => []);
  await endPlayedRun(warehouse, open);
});

it('a call requests the person confirmed for a contact by the id of the person', async () => {
  const { lena, shared, id } = company();
  await play(id('a'), shared, [lena]);
  await decide('confirmed', id('a'), lena);
  const row = { ...shared, contactId: id('a') };
  const runId = await runningRunOf(warehouse, [row], { freshness: neverFresh });
  await answerBatch(warehouse, { runId }, (people) => {
    expect(people).toMatchObject([{ confirmedId: lena.id }]);
    return [{ ...lena, title: 'CTO' }];
  });
  expect(await outcomesOf(warehouse, runId)).toEqual(['enriched']);
  expect(await personOf(id('a'))).toEqual({ id: lena.id, evidence: 'confirmed' });
  await endPlayedRun(warehouse, runId);
});
