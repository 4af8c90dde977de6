import { expect, it } from 'vitest';
import type { AnswerToRecord } from '../../../src/calls/answers/answered-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { readBulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { operations } from '../../../src/service/call-operation.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { callsByHand, somebody, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';
import { outcomesOf } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();
const { callInFlight, record, moneyOf, contact } = callsByHand(warehouse);

/** A body with a byte order mark and numbers that a float would round, as the client reads it. */
function answerAsRead(person: object): AnswerToRecord {
  const matches = JSON.stringify([person]).replace('"12345678901234567"', '12345678901234567');
  const body = `\ufeff{"request_id":-9007199254740993123,"credits_consumed":1,"matches":${matches}}`;
  const http = { status: 200, headers: {}, body: Buffer.from(body), receivedAt: 0 };
  return readBulkAnswer(http, operations.bulkMatch);
}

async function saidBy({ attemptId }: AdmittedCall) {
  const rows = await warehouse.query<{
    facts: Record<string, unknown>;
    organization: unknown;
    rank: string;
  }>`
    select o.facts, o.facts #>> '{account,traffic_ranking}' as rank, f.facts as organization
    from observations o left join organization_facts f on f.facts_hash = o.organization_facts
    where o.attempt_id = ${attemptId}`;
  return rows;
}

it('an answer with a part of another type gives a row the rest of its person, and settles the price', async () => {
  const { row, person } = somebody();
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

it('a person with a part of another type is never given by weak evidence, also at the end of the run', async () => {
  const {
    row: { email: _, ...named },
    person,
  } = somebody();
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
  await reconcileContacts(warehouse, call.runId, new AbortController().signal);
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['identity_mismatch']);
  expect(await contact(named.contactId!)).toBeUndefined();
  expect(await moneyOf(call.runId)).toEqual([0, 1]);
});
