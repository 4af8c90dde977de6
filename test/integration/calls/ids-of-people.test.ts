import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith, recordAnswer } from '../../helpers/warehouse/answers.ts';
import { callsByHand, inventPerson, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';
import { randomBytes } from 'node:crypto';
import {
  readCallCredits,
  callWithPhones,
  deliverTo,
  phonesBody,
} from '../../helpers/warehouse/late-calls.ts';
import { outcomesOf } from '../../helpers/warehouse/rows.ts';
import { personOf } from '../../helpers/warehouse/scripted-calls.ts';
import { bulkAnswer } from '../../helpers/servers/test-client.ts';

const warehouse = await warehouseOfFile();
const { callInFlight, record } = callsByHand(warehouse);

/** Two people of different names for whom the service returns the same id. */
function ofOneId() {
  const [one, two] = [inventPerson(), inventPerson()];
  Object.assign(two.row, { firstName: 'Other', lastName: `Two${two.person.id}` });
  const person = { ...two.person, id: one.person.id, first_name: 'Other', last_name: two.row.lastName };
  return [one, { ...two, person }] as const;
}

async function contactsOf(people: readonly ReturnType<typeof inventPerson>[]): Promise<unknown[]> {
  return warehouse.query`
    select contact_id, last_name, email from enriched_contacts
    where contact_id = any(${people.map(({ row }) => row.contactId)})`;
}

async function withheldOf({ attemptId }: AdmittedCall): Promise<unknown[]> {
  return warehouse.query`
    select match_index, reason from quarantined_people where attempt_id = ${attemptId} order by match_index`;
}

const reason = 'this id is also stated for a person of another name';

it('two people of different names with the same id in one answer are assigned to no contact', async () => {
  const people = ofOneId();
  const call = await callInFlight(people.map(({ row }) => row));
  await record(call, answerWith(people.map(({ person }) => person)));
  expect(await contactsOf(people)).toEqual([]);
  expect(await withheldOf(call)).toEqual([
    { match_index: 0, reason },
    { match_index: 1, reason },
  ]);
});

it('a person with the id of an earlier person of another name is not assigned; the earlier match stays', async () => {
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

it('two contacts of one person id both show the new last name that a later answer states', async () => {
  const [before, after] = [inventPerson(), inventPerson()];
  const married = { ...after.person, id: before.person.id!, last_name: 'Married' };
  for (const [{ row }, person] of [
    [before, before.person],
    [after, married],
  ] as const) {
    const call = await callInFlight([{ ...row, lastName: person.last_name! }]);
    await record(call, answerWith([person]));
  }
  expect(await contactsOf([before, after])).toMatchObject([
    { last_name: 'Married' },
    { last_name: 'Married' },
  ]);
});

it.each([
  ['longer than an index entry allows', randomBytes(9_000).toString('base64')],
  ['of 300 UTF-16 surrogate pairs', `a${'𠮷'.repeat(300)}`],
])('a person with a very long id (%s) is enriched and gets phones', async (_, id) => {
  const call = await callWithPhones(warehouse);
  const { runId, attemptId, people } = call;
  const ids = [id, ...call.ids.slice(1)];
  const matches = people.map(({ identity }, index) => personOf(identity, { id: ids[index]! }));
  await recordAnswer(warehouse, {
    attemptId,
    people,
    asked: call.extras,
    answer: bulkAnswer({ request_id: 1, credits_consumed: 3, matches }),
  });
  expect(await outcomesOf(warehouse, runId)).toEqual(Array(3).fill('enriched'));
  await deliverTo(warehouse, call, phonesBody(ids, 24));
  expect(await readCallCredits(warehouse, call)).toMatchObject({ status: 'settled', settled: 27 });
  const rows = await warehouse.query`
    select 1 from enriched_contacts where run_id = ${runId} and phone is not null`;
  expect(rows).toHaveLength(3);
});
