import { describe, expect, it } from 'vitest';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { drainInbox } from '../../../src/late-results/sync-late-results.ts';
import { hashToken } from '../../../src/ledger/webhook-token.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/end-run.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });
let humans = 0;

/** A human at a company, as the service has them. */
function human() {
  humans += 1;
  const last = `Merge${'abcdefghijklmnopqrstuvw'[humans]!}`;
  const organization = { name: `Delta ${humans}`, primary_domain: `delta${humans}.example` };
  const person = {
    id: `old-${humans}`,
    first_name: 'Mia',
    last_name: last,
    email: `mia@delta${humans}.example`,
    proflink_url: `linkedin.com/in/mia-${humans}`,
    organization,
  };
  const name = { firstName: 'Mia', lastName: last };
  return {
    person,
    renumbered: { ...person, id: `new-${humans}`, title: 'CTO' },
    byAddress: { ...name, email: person.email },
    byProfile: { ...name, profileUrl: person.proflink_url },
    byId: { ...name, personId: person.id },
    byCompany: { ...name, organizationName: organization.name },
  };
}

/** Plays the run of one contact, whose call returns a person. @returns its id and the outcome of its row */
async function play(contactId: string, identity: Identity, ...people: Person[]) {
  const runId = await runningRunOf(warehouse, [{ ...identity, keys: identityKeys(identity), contactId }], {
    freshness: { enrichedSeconds: 0, notFoundSeconds: 0 },
  });
  await reconcileContacts(warehouse, runId, signal);
  await answerBatch(warehouse, { runId }, () => people);
  const [outcome] = await outcomesOf(warehouse, runId);
  await reconcileContacts(warehouse, runId, signal);
  await endRun(warehouse, runId, 'finished', undefined);
  return { runId, outcome };
}

/** The people of contacts; null: the contact has none. */
async function peopleOf(...contactIds: readonly string[]): Promise<(string | null)[]> {
  const rows = await warehouse.query<{ person_id: string | null }>`
    select c.person_id from unnest(${contactIds}::text[]) with ordinality as n (contact_id, place)
    left join enriched_contacts c using (contact_id) order by place`;
  return rows.map(({ person_id: personId }) => personId);
}

describe('a person to whom the service gives a new id', () => {
  it('every contact of the person gets the data of the newest record, until its run is undone', async () => {
    const { person, renumbered, byAddress, byProfile, byCompany } = human();
    const contacts = ['a', 'b', 'c'].map((letter) => `${letter}-${person.id}`) as [string, string, string];
    await play(contacts[0], byAddress, person);
    expect(await peopleOf(...contacts)).toEqual([person.id, null, null]);
    const { runId, outcome } = await play(contacts[1], byProfile, renumbered);
    expect(outcome).toBe('enriched');
    expect(await peopleOf(...contacts)).toEqual([renumbered.id, renumbered.id, null]);
    await undoRun(warehouse, runId, note, signal);
    expect(await peopleOf(...contacts)).toEqual([person.id, null, null]);
    await revertUndo(warehouse, runId, signal);
    expect(await peopleOf(...contacts)).toEqual([renumbered.id, renumbered.id, null]);
    await play(contacts[2], { ...byCompany, ...byAddress }, person);
    expect(await peopleOf(...contacts)).toEqual([person.id, person.id, person.id]);
    expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differing: [] });
  });

  it('a contact with the former id alone gets the newest record, until its run is undone', async () => {
    const { person, renumbered, byId, byAddress, byProfile } = human();
    const contacts = ['a', 'b', 'c'].map((letter) => `${letter}-${person.id}`) as [string, string, string];
    await play(contacts[0], byId, person);
    await play(contacts[1], byAddress, person);
    const { runId } = await play(contacts[2], byProfile, renumbered);
    const newest = contacts.map(() => renumbered.id);
    expect(await peopleOf(...contacts)).toEqual(newest);
    await undoRun(warehouse, runId, note, signal);
    expect(await peopleOf(...contacts)).toEqual([person.id, person.id, null]);
    await revertUndo(warehouse, runId, signal);
    expect(await peopleOf(...contacts)).toEqual(newest);
    expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differing: [] });
  });

  it('a contact with the former id alone gets the record of the answer to its own call', async () => {
    const { person, renumbered, byId } = human();
    await play(`a-${person.id}`, byId, person);
    const { outcome } = await play(`a-${person.id}`, byId, renumbered);
    expect(outcome).toBe('enriched');
    expect(await peopleOf(`a-${person.id}`)).toEqual([renumbered.id]);
  });

  it('a contact with the former id gets neither of two people whom one answer distinguishes', async () => {
    const { person, renumbered, byId } = human();
    await play(`a-${person.id}`, byId, person);
    const { outcome } = await play(`a-${person.id}`, byId, renumbered, { ...renumbered, id: 'twin' });
    expect(outcome).toBe('identity_mismatch');
    expect(await peopleOf(`a-${person.id}`)).toEqual([person.id]);
  });

  it('contacts of three ids in turn get the newest record, also with the first address or id alone', async () => {
    const { person, byId, byAddress, byProfile } = human();
    const moved = { ...person, id: `moved-${person.id}`, email: `mia@other-${person.id}.example` };
    const last = { ...moved, id: `last-${person.id}`, proflink_url: null, title: 'CTO' };
    const rows = { a: byId, b: byAddress, c: byProfile, d: { ...byAddress, email: moved.email } };
    const answers = { a: person, b: person, c: moved, d: last };
    for (const letter of ['a', 'b', 'c', 'd'] as const) await play(letter, rows[letter], answers[letter]);
    expect(await peopleOf('a', 'b', 'c', 'd')).toEqual([last.id, last.id, last.id, last.id]);
    await play('e', { ...byProfile, otherEmails: [person.email, moved.email] });
    expect(await peopleOf('e')).toEqual([last.id]);
  });

  it('a contact that only keeps its person gets the newest record', async () => {
    const { person, renumbered, byAddress, byProfile } = human();
    const { firstName, lastName } = byAddress;
    const contact = `kept-${person.id}`;
    await play(contact, byAddress, person);
    await play(contact, { firstName, lastName, organizationName: 'Elsewhere' });
    await play(`other-${person.id}`, byProfile, renumbered);
    expect(await peopleOf(contact)).toEqual([renumbered.id]);
  });

  async function keysOf(contactId: string): Promise<unknown> {
    const rows = await warehouse.query`select person_keys from contacts where contact_id = ${contactId}`;
    return (rows[0] as { person_keys: unknown }).person_keys;
  }

  const bothKeys = (...people: readonly { readonly id: string }[]): string[] =>
    people.map(({ id }) => `person:${id}`).toSorted();

  /** Plays the run of one contact with a waterfall, which finds an address. */
  async function playWaterfall(contactId: string, identity: Identity, person: Person, found: string) {
    const asked = { waterfall: ['email'] as const };
    const row = { ...identity, keys: identityKeys(identity), contactId };
    const runId = await runningRunOf(warehouse, [row], {
      ...asked,
      freshness: { enrichedSeconds: 0, notFoundSeconds: 0 },
    });
    const { attemptId, token } = await answerBatch(warehouse, { runId, ...asked }, () => [person]);
    const emails = [{ email: found, email_status_cd: 'verified' }];
    const body = Buffer.from(JSON.stringify({ people: [{ id: person.id, emails }] }));
    await storeDeliveries(warehouse, [{ tokenHash: hashToken(token!), body, contentEncoding: undefined }]);
    await drainInbox(warehouse, { attemptId }, signal);
    await reconcileContacts(warehouse, runId, signal);
    await endRun(warehouse, runId, 'finished', undefined);
  }

  it('two records stay one person when the one gets an address from a waterfall for the other', async () => {
    const { person, renumbered, byAddress, byProfile } = human();
    await playWaterfall(`a-${person.id}`, byAddress, person, `mia.${person.email}`);
    await play(`b-${person.id}`, byProfile, { ...renumbered, email: null });
    await play(`c-${person.id}`, { ...byProfile, ...byAddress }, { ...renumbered, email: null });
    expect(await keysOf(`c-${person.id}`)).toEqual(bothKeys(person, renumbered));
  });

  it('two records stay one person when a waterfall finds the address of the profile again', async () => {
    const { person, renumbered, byAddress } = human();
    await play(`a-${person.id}`, byAddress, { ...person, proflink_url: null });
    await playWaterfall(`b-${person.id}`, byAddress, { ...renumbered, proflink_url: null }, person.email);
    expect(await peopleOf(`a-${person.id}`, `b-${person.id}`)).toEqual([renumbered.id, renumbered.id]);
  });

  it('two records stay one person when an answer repeats the address of the profile as a private one', async () => {
    const { person, renumbered, byAddress } = human();
    const hidden = { proflink_url: null };
    await play(`a-${person.id}`, byAddress, { ...person, ...hidden });
    await play(`b-${person.id}`, byAddress, { ...renumbered, ...hidden });
    const repeated = { email: null, personal_emails: [person.email] };
    await play(`c-${person.id}`, byAddress, { ...renumbered, ...hidden, ...repeated });
    expect(await peopleOf(`a-${person.id}`, `c-${person.id}`)).toEqual([renumbered.id, renumbered.id]);
  });

  it('a contact gets the keys of a record that no contact has and that shares only the profile', async () => {
    const { person, renumbered, byAddress, byCompany } = human();
    await play(`a-${person.id}`, byAddress, person);
    await play(`b-${person.id}`, { ...byCompany, firstName: 'Zoe' }, { ...renumbered, email: null });
    await play(`c-${person.id}`, byAddress);
    expect(await keysOf(`c-${person.id}`)).toEqual(bothKeys(person, renumbered));
  });

  it('a contact keeps the person whom only name and company show', async () => {
    const { person, renumbered, byCompany } = human();
    await play(`weak-${person.id}`, byCompany, person);
    const { outcome } = await play(`weak-${person.id}`, byCompany, renumbered);
    expect(outcome).toBe('enriched');
    expect(await peopleOf(`weak-${person.id}`)).toEqual([renumbered.id]);
  });

  it('a contact keeps its person while the run that found the new id goes on', async () => {
    const { person, renumbered, byAddress, byProfile } = human();
    await play(`before-${person.id}`, byAddress, person);
    const row = { ...byProfile, keys: identityKeys(byProfile), contactId: `later-${person.id}` };
    const runId = await runningRunOf(warehouse, [row], {
      freshness: { enrichedSeconds: 0, notFoundSeconds: 0 },
    });
    await answerBatch(warehouse, { runId }, () => [renumbered]);
    expect(await peopleOf(`before-${person.id}`)).toEqual([person.id]);
  });

  it.each([
    ['the names differ', { first_name: 'Zoe' }],
    ['the profiles differ', { proflink_url: 'linkedin.com/in/mia-of-somebody-else' }],
    ['only a private address agrees', { email: null, proflink_url: null }],
  ] as [string, Partial<Person>][])('a contact has neither of two people if %s', async (_, other) => {
    const { person, renumbered, byAddress } = human();
    const shared = { personal_emails: [person.email] };
    const row = other.first_name === undefined ? byAddress : { email: byAddress.email };
    await play(`first-${person.id}`, row, { ...person, ...shared });
    await play(`second-${person.id}`, row, { ...renumbered, ...shared, ...other });
    expect(await peopleOf(`first-${person.id}`, `second-${person.id}`)).toEqual([null, null]);
  });

  it('a contact has neither of two people whom one answer distinguishes', async () => {
    const { person, renumbered, byAddress } = human();
    await play(`both-${person.id}`, byAddress, person, renumbered);
    expect(await peopleOf(`both-${person.id}`)).toEqual([null]);
  });
});

describe('a contact whom only name and company show', () => {
  const hidden = { email: null, proflink_url: null };

  it('the contact has neither of two people whom two of its runs found', async () => {
    const { person, renumbered, byCompany } = human();
    await play(`weak-${person.id}`, byCompany, { ...person, ...hidden });
    expect(await peopleOf(`weak-${person.id}`)).toEqual([person.id]);
    const { outcome, runId } = await play(`weak-${person.id}`, byCompany, { ...renumbered, ...hidden });
    expect(outcome).toBe('identity_mismatch');
    expect(await peopleOf(`weak-${person.id}`)).toEqual([null]);
    await undoRun(warehouse, runId, note, signal);
    expect(await peopleOf(`weak-${person.id}`)).toEqual([person.id]);
  });

  it('the contact gets the person of the newest answer if nothing shows that the former is another', async () => {
    const { person, renumbered, byCompany } = human();
    const titles = async () => {
      const { rows } = await warehouse.pool.query(
        'select title from enriched_contacts where contact_id = $1',
        [`weak-${person.id}`],
      );
      return rows.map(({ title }) => title as string | null);
    };
    await play(`weak-${person.id}`, byCompany, { ...person, ...hidden, id: null });
    expect(await titles()).toEqual([null]);
    await play(`weak-${person.id}`, byCompany, { ...renumbered, ...hidden, id: null });
    expect(await titles()).toEqual(['CTO']);
  });
});
