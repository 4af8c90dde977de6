import { describe, expect, it } from 'vitest';
import { erase } from '../../../src/privacy/erase.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { endRun } from '../../../src/runs/end-run.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import { measureUndo, revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { everything } from '../../helpers/database/everything.ts';
import { endedRun } from '../../helpers/warehouse/delivered-calls.ts';
import { asked, outcomesOf, stagedRun } from '../../helpers/warehouse/rows.ts';
import {
  callAgain,
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
  type LateExtras,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const noExtras: LateExtras = { reveal: [], waterfall: [] };
const phones = ['+14155550100', '+14155550101', '+14155550102'];
const none = [null, null, null];
const warehouse = await warehouseOfFile();

/** Other ids for the people of a call. */
const newIds = (call: PhonesCall): string[] => call.ids.map((id) => `new-${id}`);

/** Ends the run of a call as the product does. */
async function end(call: PhonesCall): Promise<void> {
  await reconcileContacts(warehouse, call.runId, signal);
  await endRun(warehouse, call.runId, 'finished', undefined);
}

/** A run for the people of an earlier call, whose answer names them by other ids. */
async function renumberedRun(call: PhonesCall, ids = newIds(call)): Promise<PhonesCall> {
  const again = await callAgain(warehouse, call, { ids, extras: noExtras });
  await recordPhonesAnswer(warehouse, { ...again, ...(call.stated && { stated: call.stated }) });
  await end(again);
  return again;
}

async function valuesOf(call: PhonesCall, column: 'person_id' | 'phone'): Promise<(string | null)[]> {
  const { rows } = await warehouse.pool.query<{ value: string | null }>(
    `select ${column} as value from unnest($1::text[]) with ordinality as n (contact_id, place)
     left join enriched_contacts c using (contact_id) order by place`,
    [call.people.map(({ contactId }) => contactId)],
  );
  return rows.map(({ value }) => value);
}

const phonesOf = (call: PhonesCall): Promise<(string | null)[]> => valuesOf(call, 'phone');

async function expectRebuilt(): Promise<void> {
  expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differing: [] });
}

describe('phones of a person to whom the service gives a new id', () => {
  it('the contacts keep their phones, and a plan asks for none of them', async () => {
    const call = await endedRun(warehouse);
    const again = await renumberedRun(call);
    expect(await valuesOf(call, 'person_id')).toEqual(again.ids);
    expect(await phonesOf(call)).toEqual(phones);
    const later = await stagedRun(
      warehouse,
      call.people.map(({ identity, contactId }) => ({
        ...identity,
        keys: [`email:${identity.email}`],
        contactId,
      })),
    );
    await planRows(warehouse, later.runId, { ...asked, fieldGroups: ['profile', 'phone'] });
    expect(await outcomesOf(warehouse, later.runId)).toEqual(['fresh', 'fresh', 'fresh']);
    await expectRebuilt();
  });

  it('the contacts keep their phones after a second new id, and if the former id returns', async () => {
    const call = await endedRun(warehouse);
    await renumberedRun(call);
    await renumberedRun(
      call,
      call.ids.map((id) => `third-${id}`),
    );
    expect(await phonesOf(call)).toEqual(phones);
    await renumberedRun(call, [...call.ids]);
    expect(await valuesOf(call, 'person_id')).toEqual(call.ids);
    expect(await phonesOf(call)).toEqual(phones);
    await expectRebuilt();
  });

  it('provenance and history name the call, delivery and run that paid for the phones', async () => {
    const call = await endedRun(warehouse);
    await renumberedRun(call);
    const paid = { run_id: call.runId, attempt_id: call.attemptId, delivery_id: expect.any(String) };
    for (const view of ['field_provenance', 'contact_history']) {
      const { rows } = await warehouse.pool.query(
        `select run_id, attempt_id, delivery_id, value ->> 'phone' as phone
         from ${view} where contact_id = $1 and field_group = 'phone'`,
        [call.people[0]!.contactId],
      );
      expect(rows).toEqual([{ ...paid, phone: phones[0] }]);
    }
    const { rows: listed } = await warehouse.pool.query(
      `select run_id, attempt_id, delivery_id from person_phones where person_id = $1`,
      [`new-${call.ids[0]}`],
    );
    expect(listed).toEqual([paid]);
  });

  it('the contacts keep the addresses that a waterfall found for the former id', async () => {
    const call = await callWithPhones(warehouse, { reveal: [], waterfall: ['email'] });
    await recordPhonesAnswer(warehouse, call);
    const found = `found-${call.ids[0]}@vendor.example`;
    const emails = [{ email: found, email_status_cd: 'verified' }];
    const body = { request_id: call.requestId, people: [{ id: call.ids[0], emails }] };
    await deliverTo(warehouse, call, Buffer.from(JSON.stringify(body)));
    await end(call);
    await renumberedRun(call);
    const { rows } = await warehouse.pool.query(
      `select kind from person_emails where person_id = $1 and email = $2`,
      [`new-${call.ids[0]}`, found],
    );
    expect(rows).toEqual([{ kind: 'waterfall' }]);
  });
});

describe('phones that arrive for the former id of a person', () => {
  async function contactsInFeed(after: string): Promise<unknown[]> {
    const { rows } = await warehouse.pool.query(
      `select contact_id, field_groups from changes where change_id > $1::bigint order by contact_id`,
      [after],
    );
    return rows;
  }

  it('the contacts get the phones, and the feed has the change', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await end(call);
    await renumberedRun(call);
    expect(await phonesOf(call)).toEqual(none);
    const { rows } = await warehouse.pool.query<{ last: string }>(
      'select max(change_id)::text as last from changes',
    );
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    expect(await phonesOf(call)).toEqual(phones);
    expect(await contactsInFeed(rows[0]!.last)).toEqual(
      call.people.map(({ contactId }) => ({ contact_id: contactId, field_groups: ['phone'] })),
    );
    await expectRebuilt();
  });

  it('the contacts get phones that arrive before the end of the run with the new id', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await end(call);
    const again = await callAgain(warehouse, call, { ids: newIds(call), extras: noExtras });
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    await recordPhonesAnswer(warehouse, again);
    expect(await phonesOf(call)).toEqual(phones);
  });
});

it('the phones of two ids that the service merges reach the contacts of both', async () => {
  const call = await callWithPhones(warehouse);
  const profile = `linkedin.com/in/twice-${call.ids[0]}`;
  const twice = { first_name: 'Ada', last_name: 'Twice', proflink_url: profile, email: null };
  const addresses = [0, 1].map((index) => ({ personal_emails: [call.people[index]!.identity.email!] }));
  const people = call.people.map((person, index) =>
    index < 2 ? { ...person, identity: { ...person.identity, lastName: 'Twice' } } : person,
  );
  const first = { ...call, people, stated: { 0: { ...twice, ...addresses[0] } } };
  await recordPhonesAnswer(warehouse, first, [1, 0, 1]);
  await deliverTo(warehouse, call, phonesBody([call.ids[0]!], 8));
  await end(call);
  const second = await callAgain(warehouse, call, { ids: ['', `second-${call.ids[0]}`, ''] });
  await recordPhonesAnswer(
    warehouse,
    { ...second, people, stated: { 1: { ...twice, ...addresses[1] } } },
    [0, 1, 0],
  );
  await deliverTo(
    warehouse,
    second,
    Buffer.from(phonesBody([second.ids[1]!], 8).toString().replaceAll('+1415', '+1416')),
  );
  await end(second);
  const merged = { ...twice, personal_emails: addresses.flatMap((each) => each.personal_emails) };
  const third = await callAgain(warehouse, call, { ids: [`m-${call.ids[0]}`, '', ''], extras: noExtras });
  await recordPhonesAnswer(warehouse, { ...third, people, stated: { 0: merged } }, [1, 0, 0]);
  await end(third);
  expect((await valuesOf(call, 'person_id')).slice(0, 2)).toEqual([`m-${call.ids[0]}`, `m-${call.ids[0]}`]);
  const { rows } = await warehouse.pool.query<{ number: string }>(
    'select number from person_phones where person_id = $1 order by number',
    [`m-${call.ids[0]}`],
  );
  expect(rows.map(({ number }) => number)).toEqual(['+14155550100', '+14165550100']);
  expect((await phonesOf(call)).slice(0, 2)).toEqual(['+14165550100', '+14165550100']);
  await expectRebuilt();
});

describe('an undo after the service gave a new id', () => {
  it('an undo of the run that paid takes the phones away, and a revert brings them back', async () => {
    const call = await endedRun(warehouse);
    const again = await renumberedRun(call);
    expect(await measureUndo(warehouse, call.runId)).toMatchObject({ restored: 3, only_phones: 3 });
    await undoRun(warehouse, call.runId, note, signal);
    expect(await phonesOf(call)).toEqual(none);
    expect(await valuesOf(call, 'person_id')).toEqual(again.ids);
    await expectRebuilt();
    await revertUndo(warehouse, call.runId, signal);
    expect(await phonesOf(call)).toEqual(phones);
    await expectRebuilt();
  });

  it('an undo of the run with the new id leaves the phones, as does its revert', async () => {
    const call = await endedRun(warehouse);
    const again = await renumberedRun(call);
    await undoRun(warehouse, again.runId, note, signal);
    expect(await valuesOf(call, 'person_id')).toEqual(call.ids);
    expect(await phonesOf(call)).toEqual(phones);
    const { rows } = await warehouse.pool.query('select from people where person_id = any($1)', [again.ids]);
    expect(rows).toEqual([]);
    await expectRebuilt();
    await revertUndo(warehouse, again.runId, signal);
    expect(await valuesOf(call, 'person_id')).toEqual(again.ids);
    expect(await phonesOf(call)).toEqual(phones);
    await expectRebuilt();
  });

  it('a new id that came during the undo gets the phones with the revert', async () => {
    const call = await endedRun(warehouse);
    await undoRun(warehouse, call.runId, note, signal);
    await renumberedRun(call);
    expect(await phonesOf(call)).toEqual(none);
    await revertUndo(warehouse, call.runId, signal);
    expect(await phonesOf(call)).toEqual(phones);
    await expectRebuilt();
  });

  it('a later run that does not ask again uses the phones of the undone run', async () => {
    const call = await endedRun(warehouse);
    await renumberedRun(call);
    await undoRun(warehouse, call.runId, note, signal);
    const later = await callAgain(warehouse, call, { ids: [] });
    await warehouse.pool.query(`update run_rows set outcome = 'fresh' where run_id = $1`, [later.runId]);
    await warehouse.pool.query(
      `update runs set options = options || '{"freshness":{"enrichedSeconds":86400,"notFoundSeconds":86400}}'
       where run_id = $1`,
      [later.runId],
    );
    await reconcileContacts(warehouse, later.runId, signal);
    expect(await phonesOf(call)).toEqual(phones);
  });
});

it('an erasure of a person with a new id leaves nothing of either id', async () => {
  const call = await endedRun(warehouse);
  const again = await renumberedRun(call);
  const figures = await erase(warehouse, [`person:${again.ids[0]}`], note);
  expect(figures).toMatchObject({ contacts: 1, phones: 2 });
  expect(await phonesOf(call)).toEqual([null, ...phones.slice(1)]);
  const content = await everything(warehouse);
  for (const text of [call.ids[0]!, again.ids[0]!, call.people[0]!.identity.email!])
    expect(content).not.toContain(text);
  await expectRebuilt();
});

describe('phones of another person', () => {
  it.each([
    ['the same shared mailbox', (email: string) => email.replace(/^[^@]+/, 'info'), {}],
    ['the same address under another first name', (email: string) => email, { first_name: 'Zoe' }],
    ['the same name under another profile', (email: string) => email, { proflink_url: 'linkedin.com/in/x' }],
  ])('a person with %s gets no phones', async (_, addressOf, other) => {
    const call = await callWithPhones(warehouse);
    const email = addressOf(call.people[0]!.identity.email!);
    const stated = { 0: { email, proflink_url: 'linkedin.com/in/first' } };
    const people = call.people.map((person) => ({ ...person, identity: { ...person.identity, email } }));
    await recordPhonesAnswer(warehouse, { ...call, people, stated }, [1, 0, 0]);
    await deliverTo(warehouse, call, phonesBody([call.ids[0]!], 8));
    await end(call);
    const again = await callAgain(warehouse, call, { ids: newIds(call), extras: noExtras });
    const theirs = { 0: { email, proflink_url: null, ...other } };
    await recordPhonesAnswer(warehouse, { ...again, people, stated: theirs }, [1, 0, 0]);
    await end(again);
    const { rows } = await warehouse.pool.query('select phone from people where person_id = $1', [
      again.ids[0],
    ]);
    expect(rows).toEqual([{ phone: null }]);
  });

  it('two people whom a later answer distinguishes have only their own phones', async () => {
    const call = await endedRun(warehouse);
    const again = await renumberedRun(call);
    const both = await callAgain(warehouse, call, { ids: again.ids, extras: noExtras });
    const { firstName, lastName, email } = call.people[0]!.identity;
    const former = { id: call.ids[0]!, first_name: firstName, last_name: lastName, email };
    await recordPhonesAnswer(warehouse, { ...both, surplus: [former] });
    await end(both);
    const { rows } = await warehouse.pool.query('select phone from people where person_id = $1', [
      again.ids[0],
    ]);
    expect(rows).toEqual([{ phone: null }]);
    await expectRebuilt();
  });
});
