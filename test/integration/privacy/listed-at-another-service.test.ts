import { createHash } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
} from '../../helpers/warehouse/late-calls.ts';
import { addToSuppressionList, runningRun, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { openedOutcomes } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const email = 'cleo@orbit.example';
const md5 = createHash('md5').update(email).digest('hex');

/** Only an answer of another service links the suppressed profile to the e-mail of the row. */
beforeEach(async () => {
  await warehouse.query`truncate suppression_entries, contact_matches, observation_log, people cascade`;
  const person = { id: 'of-other', email, proflink_url: 'https://www.linkedin.com/in/cleo' };
  await appendContact(warehouse, {
    service: 'other',
    contactId: 'cleo',
    runId: await runningRun(warehouse),
    person,
  });
  await addToSuppressionList(warehouse, 'profile:linkedin.com/in/cleo');
});

it.each<[string, StagedRow]>([
  ['its e-mail', { email, contactId: 'of-crm' }],
  ['the hash of its e-mail', { hashedEmail: md5, contactId: 'of-crm' }],
])('a row is suppressed if an answer of another service links %s to a suppressed profile', async (_, row) => {
  expect(await openedOutcomes(warehouse, [row])).toEqual(['suppressed']);
});

it('a delivery gives no phone to a person if another service links the person to a suppressed profile', async () => {
  await warehouse.query`truncate suppression_entries, contact_matches, observation_log, people cascade`;
  const call = await callWithPhones(warehouse);
  await recordPhonesAnswer(warehouse, call);
  const profile = 'linkedin.com/in/listed-since';
  const person = {
    id: 'of-other-2',
    email: call.people[0]!.identity.email!,
    proflink_url: `https://www.${profile}`,
  };
  await appendContact(warehouse, { service: 'other', contactId: 'elsewhere', runId: 'gone', person });
  await addToSuppressionList(warehouse, `profile:${profile}`);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  const rows = await warehouse.query<{ phone: string | null }>`
    select phone from enriched_contacts where run_id = ${call.runId} order by contact_id`;
  expect(rows.map(({ phone }) => phone)).toEqual([null, '+14155550101', '+14155550102']);
});
