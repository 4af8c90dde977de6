import { afterAll, expect, it } from 'vitest';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });
let humans = 0;

afterAll(async () => {
  const { differing } = await rebuild(warehouse, { check: true, signal });
  if (differing.length > 0) throw new Error(`differs from the log: ${differing.join(', ')}`);
});

/** A person whom the service returns with an id or without one, and the rows of two contacts of the person. */
function human() {
  humans += 1;
  const last = `Nord${'abcdefghijklmnopqrstuvw'[humans]!}`;
  const organization = { name: `Alpha ${humans}`, primary_domain: `alpha${humans}.example` };
  const person = {
    id: `given-${humans}`,
    first_name: 'Mia',
    last_name: last,
    email: `mia@alpha${humans}.example`,
    proflink_url: `linkedin.com/in/mia-nord-${humans}`,
    organization,
  };
  const name = { firstName: 'Mia', lastName: last };
  return {
    person,
    a: contact(`a-${humans}`, { ...name, email: person.email }),
    b: contact(`b-${humans}`, { ...name, profileUrl: person.proflink_url }),
    byCompany: contact(`c-${humans}`, { ...name, organizationName: organization.name }),
  };
}

function contact(contactId: string, identity: Identity) {
  return { contactId, identity };
}

type Contact = ReturnType<typeof contact>;

/** Plays the run of one contact, whose call returns a person. @returns the id of the run */
async function play({ contactId, identity }: Contact, person: Person): Promise<string> {
  const runId = await runningRunOf(warehouse, [{ ...identity, keys: identityKeys(identity), contactId }], {
    freshness: { enrichedSeconds: 0, notFoundSeconds: 0 },
  });
  await reconcileContacts(warehouse, runId, signal);
  await answerBatch(warehouse, { runId }, () => [person]);
  await reconcileContacts(warehouse, runId, signal);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

/** The id and the title that the contacts have; undefined: the contact has no person. */
async function dataOf(...contacts: readonly Contact[]) {
  const rows = await warehouse.query<{ contact_id: string; person_id: string | null; title: string | null }>`
    select contact_id, person_id, title from enriched_contacts
    where contact_id = any(${contacts.map(({ contactId }) => contactId)})`;
  return contacts.map(({ contactId }) => {
    const row = rows.find((each) => each.contact_id === contactId);
    return row && [row.person_id, row.title];
  });
}

it('a person suppressed by id is not assigned, although an earlier answer had the person without an id', async () => {
  const { person, a, b } = human();
  await play(a, { ...person, id: null });
  await addToSuppressionList(warehouse, `person:${person.id}`);
  await play(b, { ...person, title: 'CTO' });
  expect(await dataOf(a, b)).toEqual([[null, null], undefined]);
});

it('an erasure by id also removes the earlier answer that had the same person without an id', async () => {
  const { person, a, b } = human();
  await play(a, { ...person, id: null });
  await play(b, { ...person, title: 'CTO' });
  await erase(warehouse, [`person:${person.id}`], note);
  expect(await dataOf(a, b)).toEqual([undefined, undefined]);
  expect(
    await warehouse.query`select from observations where facts::text like ${`%${person.last_name}%`}`,
  ).toEqual([]);
});
