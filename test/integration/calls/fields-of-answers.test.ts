import { expect, it } from 'vitest';
import type { AnswerToRecord } from '../../../src/calls/answers/store-answer.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { callsByHand, inventPerson, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf, noSignal } from '../../helpers/warehouse/rows.ts';
import { bulkAnswer } from '../../helpers/servers/test-client.ts';
import documented from '../../unit/service/documented-fields.json' with { type: 'json' };

const warehouse = await warehouseOfFile();
const { callInFlight, record, moneyOf, contact } = callsByHand(warehouse);

/** A body with a byte order mark and numbers that a float would round, as the client reads it. */
function answerAsRead(person: object): AnswerToRecord {
  const matches = JSON.stringify([person]).replace('"12345678901234567"', '12345678901234567');
  const body = `\ufeff{"request_id":-9007199254740993123,"credits_consumed":1,"matches":${matches}}`;
  return bulkAnswer(body);
}

async function saidBy({ attemptId }: AdmittedCall) {
  return warehouse.query<{ facts: Record<string, unknown>; organization: unknown; rank: string }>`
    select facts, facts #>> '{account,traffic_ranking}' as rank, organization
    from observations where attempt_id = ${attemptId}`;
}

it('an answer is recorded without its fields of a wrong type, and is settled in full', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  const [job, account] = [{ organization_name: 'Fjord', title: 7 }, { traffic_ranking: '12345678901234567' }];
  await record(
    call,
    answerAsRead({
      ...person,
      organization: 'Orbit',
      contact: ['saved'],
      employment_history: ['x', job],
      account,
    }),
  );
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched']);
  expect(await contact(row.contactId!)).toMatchObject({ title: 'Engineer', organization_name: null });
  const [said] = await saidBy(call);
  expect(said).toMatchObject({
    organization: null,
    rank: null,
    facts: { employment: [{ organization_name: 'Fjord' }] },
  });
  expect(said!.facts).not.toHaveProperty('contact');
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
});

it('a person with an unreadable employer is not matched to a row by name and employment history', async () => {
  const {
    row: { email: _, ...named },
    person,
  } = inventPerson();
  const call = await callInFlight([{ ...named, organizationName: 'Fjord' }]);
  await record(
    call,
    answerAsRead({
      ...person,
      email: null,
      organization: 'Orbit',
      employment_history: [{ organization_name: 'Fjord' }],
    }),
  );
  await reconcileContacts(warehouse, call.runId, noSignal);
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['identity_mismatch']);
  expect(await contact(named.contactId!)).toBeUndefined();
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
});

/** The documented fields of an object, each text with a value of its own. */
function filled(object: keyof typeof documented): Record<string, unknown> {
  const value = (type: string, name: string): unknown => {
    const text = `${object} ${name}`;
    const values: Record<string, unknown> = { number: 7, flag: true, texts: [text], map: { a: text } };
    return values[type] ?? (type === 'objects' ? [{ a: text }] : text);
  };
  return Object.fromEntries(
    Object.entries(documented[object]).flatMap(([type, names]) =>
      names.split(' ').map((name) => [name, value(type, name)]),
    ),
  );
}

it('enrichment.observations has every documented field of an answer', async () => {
  const { row, person } = inventPerson();
  const call = await callInFlight([row]);
  const { organization: _, ...named } = person;
  const ofPerson = { ...filled('person'), ...named };
  const parts = {
    contact: { ...filled('contact'), contact_emails: [filled('contact_emails')] },
    account: filled('account'),
  };
  const organization = filled('organization');
  const job = filled('employment_history');
  await record(call, answerAsRead({ ...ofPerson, ...parts, organization, employment_history: [job] }));
  const [said] = await saidBy(call);
  expect(said).toMatchObject({ facts: { ...parts, employment: [job] }, organization });
  const text = JSON.stringify(said!.facts).toLowerCase();
  const missing = Object.entries(ofPerson).filter(
    ([name, value]) =>
      !text.includes(`"${name}":`) && !text.includes(JSON.stringify(value).slice(1, -1).toLowerCase()),
  );
  expect(missing).toEqual([]);
});
