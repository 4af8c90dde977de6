import { expect, it } from 'vitest';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { undoRun } from '../../../src/runs/undo-run.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList, testNote, noSignal } from '../../helpers/warehouse/rows.ts';
import {
  answeredCall,
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
  type PhonesCall,
  emailsAndPhones,
} from '../../helpers/warehouse/late-calls.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

const deliver = (call: PhonesCall, body: object): Promise<void> =>
  deliverTo(warehouse, call, { request_id: call.requestId, ...body });

async function contactsOf(call: PhonesCall): Promise<{ email: string | null; phone: string | null }[]> {
  return warehouse.query<{ email: string | null; phone: string | null }>`
    select email, phone from enriched_contacts where run_id = ${call.runId} order by contact_id`;
}

async function deliveriesOf(call: PhonesCall): Promise<{ status: string; hasBody: boolean }[]> {
  return warehouse.query<{ status: string; hasBody: boolean }>`
    select status, body is not null as "hasBody"
    from webhook_deliveries where attempt_id = ${call.attemptId} order by received_at`;
}

async function reasonsOf(call: PhonesCall): Promise<(string | null)[]> {
  const rows = await warehouse.query<{ reason: string | null }>`
    select reason from webhook_deliveries where attempt_id = ${call.attemptId} order by received_at`;
  return rows.map(({ reason }) => reason);
}

const phoneOf = (index: number): object => ({
  sanitized_number: `+1415555040${index}`,
  type_cd: 'mobile',
  status_cd: 'valid_number',
});

const stranger = { first_name: 'Zoe', last_name: 'Quist', email: 'zoe.quist@delta.example' };

async function answeredWithStranger(): Promise<PhonesCall> {
  const call = await callWithPhones(warehouse);
  await recordPhonesAnswer(warehouse, { ...call, stated: { 2: stranger } });
  return call;
}

async function phoneOfLaterRow(): Promise<string | null | undefined> {
  const row = { email: stranger.email, contactId: 'zoe', lastName: 'Quist' };
  await runningRunOf(warehouse, [row], { reveal: ['phone'] });
  const rows = await warehouse.query<{ phone: string | null }>`
    select phone from enriched_contacts where contact_id = 'zoe'`;
  return rows[0]?.phone;
}

it('a phone for a person without a row reaches the contact when a later export contains the person', async () => {
  const call = await answeredWithStranger();
  await deliverTo(warehouse, call, phonesBody([call.ids[2]!], 8));
  expect(await deliveriesOf(call)).toEqual([{ status: 'applied', hasBody: true }]);
  expect(await phoneOfLaterRow()).toBe('+14155550100');
});

it.each([
  ['before the end of the run', false],
  ['after the end of the run', true],
])('an e-mail from a waterfall that arrives %s assigns the person to a contact', async (_, isAfterEnd) => {
  const call = await callWithPhones(warehouse, { reveal: [], waterfall: ['email'] });
  await recordPhonesAnswer(warehouse, { ...call, stated: { 2: { email: null } } });
  if (isAfterEnd) await endRun(warehouse, call.runId, 'finished', undefined);
  const people = [{ id: call.ids[2], emails: [{ email: call.people[2]!.identity.email }] }];
  await deliver(call, { credits_consumed: 1, people });
  if (!isAfterEnd) await reconcileContacts(warehouse, call.runId, noSignal);
  const rows = await warehouse.query<{ person_id: string; email: string }>`
    select person_id, email from enriched_contacts where contact_id = ${call.people[2]!.contactId}`;
  expect(rows).toEqual([{ person_id: call.ids[2], email: call.people[2]!.identity.email }]);
});

it.each<[string, (call: PhonesCall) => object]>([
  ['another id', () => ({ id: 'other-id' })],
  ['no id', () => ({})],
])('a late result with %s is dropped if one of its e-mails is on the suppression list', async (_, who) => {
  const call = await answeredCall(warehouse, emailsAndPhones);
  const own = call.people[0]!.identity.email!;
  const listed = `private-${call.runId.toLowerCase()}@home.example`;
  await addToSuppressionList(warehouse, `email:${listed}`);
  await deliver(call, {
    credits_consumed: 4,
    people: [
      {
        ...who(call),
        emails: [
          { email: own, email_status_cd: 'unverified' },
          { email: listed.toUpperCase(), email_status_cd: 'verified' },
        ],
        phone_numbers: [phoneOf(0)],
      },
      { id: call.ids[1], emails: [], phone_numbers: [phoneOf(1)] },
    ],
  });
  expect(await contactsOf(call)).toMatchObject([
    { email: own, phone: null },
    { phone: '+14155550401' },
    { phone: null },
  ]);
  expect(await deliveriesOf(call)).toEqual([{ status: 'applied', hasBody: false }]);
});

it('a delivery about unknown people is stored without body if its call found a suppressed person', async () => {
  // A call without phones and waterfall expects no late results of the person.
  const call = { ...(await callWithPhones(warehouse, { reveal: [], waterfall: [] })), token: 'stray' };
  await warehouse.query`
    update attempts set token_hash = sha256(${call.token}::bytea) where attempt_id = ${call.attemptId}`;
  await addToSuppressionList(warehouse, 'email:quinn@listed.example');
  await recordPhonesAnswer(warehouse, {
    ...call,
    stated: { 2: { first_name: 'Quinn', last_name: 'Ives', email: 'quinn@listed.example' } },
  });
  await deliverTo(warehouse, call, phonesBody(['other-id'], 0));
  expect(await deliveriesOf(call)).toEqual([{ status: 'quarantined', hasBody: false }]);
});

it('an e-mail from a waterfall counts as looked up for each field group that its call requested', async () => {
  const call = await answeredCall(warehouse, emailsAndPhones);
  const delivered = `delivered-${call.runId.toLowerCase()}@vendor.example`;
  await deliver(call, {
    credits_consumed: 1,
    people: [
      { id: call.ids[0], emails: [{ email: delivered, email_status_cd: 'verified' }], phone_numbers: [] },
    ],
  });
  const lookups = await warehouse.query`
    select field_group, found from lookup_history join lookup_runs using (lookup_run)
    where run_id = ${call.runId} and key_hash = key_hash(${`email:${delivered}`}, 'test') order by field_group`;
  expect(lookups).toEqual([
    { field_group: 'profile', found: true },
    { field_group: 'waterfall_email', found: true },
    { field_group: 'waterfall_phone', found: false },
  ]);
});

it.each(['before', 'after'] as const)(
  'phones that arrive %s a later answer with skipped phones stay when the run that requested them is undone',
  async (order) => {
    const earlier = await answeredCall(warehouse);
    const call = await callWithPhones(warehouse);
    const record = (): Promise<void> =>
      recordPhonesAnswer(warehouse, { ...call, ids: earlier.ids }, [1, 1, 1], 3, 'skipped');
    if (order === 'after') await record();
    await deliverTo(warehouse, earlier, phonesBody(earlier.ids.slice(0, 2), 16));
    if (order === 'before') await record();
    expect((await contactsOf(call)).map(({ phone }) => phone)).toEqual([
      '+14155550100',
      '+14155550101',
      null,
    ]);
    await deliverTo(warehouse, earlier, phonesBody(earlier.ids.slice(2), 8));
    expect((await contactsOf(call))[2]!.phone).toBe('+14155550100');
    const rows = await warehouse.query`
      select status, credits_settled::int as settled
      from attempts where attempt_id = any(${[earlier.attemptId, call.attemptId]}) order by admitted_at`;
    expect(rows).toEqual([
      { status: 'settled', settled: 27 },
      { status: 'settled', settled: 3 },
    ]);
    await endRun(warehouse, earlier.runId, 'finished', undefined);
    await undoRun(warehouse, earlier.runId, testNote, noSignal);
    expect((await contactsOf(call)).map(({ phone }) => phone)).toEqual([
      '+14155550100',
      '+14155550101',
      '+14155550100',
    ]);
  },
);

it('a delivery gives no phone to people whom its call neither requested nor found', async () => {
  const earlier = await answeredCall(warehouse);
  const call = await callWithPhones(warehouse);
  await recordPhonesAnswer(warehouse, { ...call, ids: earlier.ids }, [1, 1, 1], 3, 'skipped');
  const other = await answeredCall(warehouse);
  await deliverTo(warehouse, other, phonesBody([other.ids[0]!, ...earlier.ids], 8));
  expect((await contactsOf(other)).map(({ phone }) => phone)).toEqual(['+14155550100', null, null]);
  for (const each of [earlier, call])
    expect((await contactsOf(each)).map(({ phone }) => phone)).toEqual([null, null, null]);
  expect(await reasonsOf(other)).toEqual([
    '3 of 4 people were not asked for, not found, contradictory, or suppressed',
  ]);
});
