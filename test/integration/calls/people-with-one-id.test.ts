import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answers.ts';
import { callsByHand, somebody, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';

const warehouse = await warehouseOfFile();
const { callInFlight, record } = callsByHand(warehouse);

/** Two people whom the service gives one id. */
function ofOneId() {
  const [one, two] = [somebody(), somebody()];
  Object.assign(two.row, { firstName: 'Other', lastName: `Two${two.person.id}` });
  const person = { ...two.person, id: one.person.id, first_name: 'Other', last_name: two.row.lastName };
  return [one, { ...two, person }] as const;
}

async function contactsOf(people: ReturnType<typeof ofOneId>): Promise<unknown[]> {
  return warehouse.query`
    select contact_id, last_name, email from enriched_contacts
    where contact_id = any(${people.map(({ row }) => row.contactId)})`;
}

async function withheldOf({ attemptId }: AdmittedCall): Promise<unknown[]> {
  return warehouse.query`
    select match_index, reason from quarantined_people where attempt_id = ${attemptId} order by match_index`;
}

const reason = 'this id is also stated for a person of another name';

it('two people with one id in one answer are both withheld', async () => {
  const people = ofOneId();
  const call = await callInFlight(people.map(({ row }) => row));
  await record(call, answerWith(people.map(({ person }) => person)));
  expect(await contactsOf(people)).toEqual([]);
  expect(await withheldOf(call)).toEqual([
    { match_index: 0, reason },
    { match_index: 1, reason },
  ]);
});

it('a person with the id of an earlier answer and another name is withheld, and the earlier person stays', async () => {
  const people = ofOneId();
  const calls: AdmittedCall[] = [];
  for (const { row, person } of people) {
    calls.push(await callInFlight([row]));
    await record(calls.at(-1)!, answerWith([person]));
  }
  const [{ row }] = people;
  expect(await contactsOf(people)).toEqual([
    { contact_id: row.contactId, last_name: row.lastName, email: row.email },
  ]);
  expect(await withheldOf(calls[1]!)).toEqual([{ match_index: 0, reason }]);
});

it('a person who changes the last name keeps the id', async () => {
  const [before, after] = [somebody(), somebody()];
  const married = { ...after.person, id: before.person.id!, last_name: 'Married' };
  for (const [{ row }, person] of [
    [before, before.person],
    [after, married],
  ] as const) {
    const call = await callInFlight([{ ...row, lastName: person.last_name! }]);
    await record(call, answerWith([person]));
  }
  const { rows } = await warehouse.pool.query(
    'select last_name from enriched_contacts where contact_id = any($1)',
    [[before.row.contactId, after.row.contactId]],
  );
  expect(rows).toEqual([{ last_name: 'Married' }, { last_name: 'Married' }]);
});
