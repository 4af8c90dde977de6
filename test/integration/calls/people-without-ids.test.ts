import { afterAll, expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList, type StagedRow, neverFresh, testNote } from '../../helpers/warehouse/rows.ts';
import { playRun } from '../../helpers/warehouse/scripted-calls.ts';
import { expectRebuildEqual } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
let humans = 0;

afterAll(() => expectRebuildEqual(warehouse));

/** A person whom the service returns with an id or without one, and the rows of two contacts of the person. */
function human() {
  humans += 1;
  const last = `Nord${'abcdefghijklmnopqrstuvw'[humans]!}`;
  const person = {
    id: `given-${humans}`,
    first_name: 'Mia',
    last_name: last,
    email: `mia@alpha${humans}.example`,
    proflink_url: `linkedin.com/in/mia-nord-${humans}`,
    organization: { name: `Alpha ${humans}`, primary_domain: `alpha${humans}.example` },
  };
  const name = { firstName: 'Mia', lastName: last };
  return {
    person,
    a: { contactId: `a-${humans}`, ...name, email: person.email },
    b: { contactId: `b-${humans}`, ...name, profileUrl: person.proflink_url },
  };
}

const play = (row: StagedRow, person: Person) =>
  playRun(warehouse, [row], [person], { freshness: neverFresh });

/** The id and the title that the contacts have; undefined: the contact has no person. */
async function dataOf(...contacts: readonly StagedRow[]) {
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
  await erase(warehouse, [`person:${person.id}`], testNote);
  expect(await dataOf(a, b)).toEqual([undefined, undefined]);
  expect(
    await warehouse.query`select from observations where facts::text like ${`%${person.last_name}%`}`,
  ).toEqual([]);
});
