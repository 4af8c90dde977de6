import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { recordAnswer } from '../../helpers/warehouse/answers.ts';
import { readBulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { operations } from '../../../src/service/client.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { booksOf, callWithPhones, deliverTo, phonesBody } from '../../helpers/warehouse/late-calls.ts';
import { outcomesOf } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

it.each([
  ['longer than an entry of an index', randomBytes(9_000).toString('base64')],
  ['long, and of characters of two UTF-16 units,', `a${'𠮷'.repeat(300)}`],
])('a person whose id is %s gets data and phones, as the others do', async (_, id) => {
  const call = await callWithPhones(warehouse);
  const { runId, attemptId, people } = call;
  const ids = [id, ...call.ids.slice(1)];
  const matches = people.map(({ identity: { firstName, lastName, email } }, index) => ({
    id: ids[index],
    first_name: firstName,
    last_name: lastName,
    email,
  }));
  const body = Buffer.from(JSON.stringify({ request_id: 1, credits_consumed: 3, matches }));
  await recordAnswer(warehouse, {
    attemptId,
    people,
    asked: { ...call.extras, service: 'test' },
    lateResults: { pollAfterSeconds: 60, deadlineSeconds: 3_600 },
    answer: readBulkAnswer({ status: 200, headers: {}, body, receivedAt: 0 }, operations.bulkMatch),
  });
  expect(await outcomesOf(warehouse, runId)).toEqual(Array(3).fill('enriched'));
  await deliverTo(warehouse, call, phonesBody(ids, 24));
  expect(await booksOf(warehouse, call)).toMatchObject({ status: 'settled', settled: 27 });
  const rows = await warehouse.query`
    select 1 from enriched_contacts where run_id = ${runId} and phone is not null`;
  expect(rows).toHaveLength(3);
});
