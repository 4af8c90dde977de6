import { expect, it } from 'vitest';
import { endRun } from '../../../src/runs/finish-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { deliveredCall } from '../../helpers/warehouse/late-calls.ts';
import {
  writeMatch,
  writeObservation,
  titleFacts,
  writeContact,
} from '../../helpers/warehouse/write-facts.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

async function ask(question: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  const { rows } = await warehouse.pool.query<Record<string, unknown>>(question, values);
  return rows;
}

async function finishedRun(): Promise<string> {
  const { runId } = await stagedRun(warehouse, []);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

/** A contact of hubspot whose answer was recorded on a day. */
const contact = (person: string, askedAt: string, facts: Record<string, unknown>, runId = 'run-1') =>
  writeContact(warehouse, { person, askedAt, runId, facts });

it('contact_phones names the delivery of a phone, and run_costs splits credits into e-mails and phones', async () => {
  const call = await deliveredCall(warehouse);
  const phones = await ask('select * from contact_phones where run_id = $1 order by number', call.runId);
  expect(phones).toHaveLength(3);
  expect(phones[0]).toMatchObject({ number: '+14155550100', is_first: true, attempt_id: call.attemptId });
  expect(phones[0]!['delivery_id']).not.toBeNull();
  expect(await ask('select * from run_costs where run_id = $1', call.runId)).toMatchObject([
    { credits_settled: '27.000000', people: 3, emails: 3, verified_emails: 0, phones: 3 },
  ]);
  const [costs] = await ask('select * from run_costs where run_id = $1', call.runId);
  expect(costs).toMatchObject({ email_credits: '3.000000', phone_credits: '24.000000' });
  expect(costs!['credits_per_phone']).toBe('8.000000');
  expect(costs!['credits_per_verified_email']).toBeNull();
});

it('contact_phones has the first and the last time that a phone was found', async () => {
  const facts = { phones: [{ number: '+14155550177', type: 'mobile' }] };
  await contact('confirmed', '2026-01-01', facts);
  await contact('confirmed', '2026-02-01', facts);
  await contact('confirmed', '2026-03-01', { title: { title: 'Lead' } });
  const [phone] = await ask(`select * from contact_phones where number = '+14155550177'`);
  const [first, last] = await ask(
    `select recorded_at from observation_log where facts ? 'phones' and person_id = 'confirmed' order by 1`,
  );
  expect(phone).toMatchObject({
    first_recorded_at: first!['recorded_at'],
    recorded_at: last!['recorded_at'],
  });
  expect(first).not.toEqual(last);
});

it('run_costs counts people found for contacts, and no other people in answers', async () => {
  const runId = await finishedRun();
  const facts = { email: { email: 'ada@orbit.example', email_status: 'Verified' } };
  await contact('reached', '2026-01-01', facts, runId);
  await writeObservation(warehouse, { person: 'mismatched', askedAt: '2026-01-01', runId, facts });
  expect(await ask('select * from run_costs where run_id = $1', runId)).toMatchObject([
    { people: 1, emails: 1, verified_emails: 1, phones: 0 },
  ]);
});

it('row_results has a reason for enriched and filled rows of contacts that have lost their person', async () => {
  const { runId } = await stagedRun(warehouse, [
    { keys: [], contactId: 'keeps' },
    { keys: [], contactId: 'loses' },
    { keys: [], contactId: 'filled' },
    { keys: [], contactId: 'never' },
  ]);
  await warehouse.query`update runs set source = 'hubspot' where run_id = ${runId}`;
  for (const contactId of ['keeps', 'loses', 'filled', 'never'])
    await contact(contactId, '2026-01-01', titleFacts('Lead'), runId);
  await warehouse.query`
    update run_rows set outcome = case contact_id when 'filled' then 'fresh' when 'never' then 'not_found'
      else 'enriched' end, filled = contact_id = 'filled',
      reason = case contact_id when 'filled' then 'asked recently; filled without a call' end
    where run_id = ${runId}`;
  for (const contactId of ['loses', 'filled', 'never'])
    await writeMatch(warehouse, { contactId, person: null, at: '2026-02-01', runId });
  expect(
    await ask('select contact_id, reason from row_results where run_id = $1 order by row_number', runId),
  ).toEqual([
    { contact_id: 'keeps', reason: null },
    { contact_id: 'loses', reason: expect.stringMatching(/^the contact lost its person: ./) as string },
    {
      contact_id: 'filled',
      reason: expect.stringMatching(
        /^asked recently; filled without a call; the contact lost its person: ./,
      ) as string,
    },
    { contact_id: 'never', reason: null },
  ]);
});

it('coverage_by_segment counts contacts, titles and e-mails by source and country', async () => {
  await contact('north', '2026-01-01', { city: { country: 'Norway' }, title: { title: 'Lead' } });
  await contact('south', '2026-01-01', { city: { country: 'Norway' } });
  expect(await ask(`select * from coverage_by_segment where segment_value = 'Norway'`)).toMatchObject([
    { source: 'hubspot', segment: 'country', contacts: '2', titles: '1', emails: '0' },
  ]);
});
