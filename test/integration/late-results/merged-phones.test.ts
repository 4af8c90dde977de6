import { describe, expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import { measureUndo, revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { everything } from '../../helpers/database/everything.ts';
import { endedWithPhones } from '../../helpers/warehouse/delivered-calls.ts';
import { asked, outcomesOf, stagedRun } from '../../helpers/warehouse/rows.ts';
import {
  answeredCall,
  callAgain,
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
  rowsOf,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import {
  endCall,
  expectRebuilt,
  newIds,
  noExtras,
  none,
  phones,
  phonesOf,
  renumberedRun,
  valuesOf,
} from '../../helpers/warehouse/renumbered-runs.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });

describe('phones of a person to whom the service gives a new id', () => {
  it('the contacts keep their phones, and a plan asks for none of them', async () => {
    const call = await endedWithPhones(warehouse);
    const again = await renumberedRun(warehouse, call);
    expect(await valuesOf(warehouse, call, 'person_id')).toEqual(again.ids);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    const later = await stagedRun(warehouse, rowsOf(call));
    await planRows(warehouse, later.runId, { ...asked, fieldGroups: ['profile', 'phone'] });
    expect(await outcomesOf(warehouse, later.runId)).toEqual(['fresh', 'fresh', 'fresh']);
    await expectRebuilt(warehouse);
  });

  it('the contacts keep their phones after a second new id, and if the former id returns', async () => {
    const call = await endedWithPhones(warehouse);
    await renumberedRun(warehouse, call);
    await renumberedRun(
      warehouse,
      call,
      call.ids.map((id) => `third-${id}`),
    );
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await renumberedRun(warehouse, call, [...call.ids]);
    expect(await valuesOf(warehouse, call, 'person_id')).toEqual(call.ids);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await expectRebuilt(warehouse);
  });

  it('provenance and history name the call, delivery and run that paid for the phones', async () => {
    const call = await endedWithPhones(warehouse);
    await renumberedRun(warehouse, call);
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
    const call = await answeredCall(warehouse, { reveal: [], waterfall: ['email'] });
    const found = `found-${call.ids[0]}@vendor.example`;
    const emails = [{ email: found, email_status_cd: 'verified' }];
    const body = { request_id: call.requestId, people: [{ id: call.ids[0], emails }] };
    await deliverTo(warehouse, call, Buffer.from(JSON.stringify(body)));
    await endCall(warehouse, call);
    await renumberedRun(warehouse, call);
    const { rows } = await warehouse.pool.query(
      `select kind from person_emails where person_id = $1 and email = $2`,
      [`new-${call.ids[0]}`, found],
    );
    expect(rows).toEqual([{ kind: 'waterfall' }]);
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
  await endCall(warehouse, call);
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
  await endCall(warehouse, second);
  const merged = { ...twice, personal_emails: addresses.flatMap((each) => each.personal_emails) };
  const third = await callAgain(warehouse, call, { ids: [`m-${call.ids[0]}`, '', ''], extras: noExtras });
  await recordPhonesAnswer(warehouse, { ...third, people, stated: { 0: merged } }, [1, 0, 0]);
  await endCall(warehouse, third);
  expect((await valuesOf(warehouse, call, 'person_id')).slice(0, 2)).toEqual([
    `m-${call.ids[0]}`,
    `m-${call.ids[0]}`,
  ]);
  const { rows } = await warehouse.pool.query<{ number: string }>(
    'select number from person_phones where person_id = $1 order by number',
    [`m-${call.ids[0]}`],
  );
  expect(rows.map(({ number }) => number)).toEqual(['+14155550100', '+14165550100']);
  expect((await phonesOf(warehouse, call)).slice(0, 2)).toEqual(['+14165550100', '+14165550100']);
  await expectRebuilt(warehouse);
});

describe('phones of a person whose records only a third record connects', () => {
  /** Plays runs for one contact whose answers state records of the person, the first with phones. */
  async function contactAfter(...records: readonly (Partial<Person> & { readonly id: string })[]) {
    const first = await callWithPhones(warehouse);
    const own = first.people[0]!.identity.email!;
    const ofRecord = ({ id, ...record }: (typeof records)[number], call: PhonesCall): PhonesCall => ({
      ...call,
      ids: [`${id}-${first.ids[0]}`, '', ''],
      stated: { 0: { personal_emails: [own], ...record } },
    });
    for (const [place, record] of records.entries()) {
      const call =
        place === 0 ? first : await callAgain(warehouse, first, { ids: first.ids, extras: noExtras });
      await recordPhonesAnswer(warehouse, ofRecord(record, call), [1, 0, 0]);
      if (place === 0) await deliverTo(warehouse, call, phonesBody([`${record.id}-${first.ids[0]}`], 8));
      await endCall(warehouse, call);
    }
    const [person] = await valuesOf(warehouse, first, 'person_id');
    const [phone] = await phonesOf(warehouse, first);
    await expectRebuilt(warehouse);
    return { person: person?.split('-')[0], phone };
  }

  const profile = (name: string) => ({ proflink_url: `linkedin.com/in/chain-${name}` });
  const address = (name: string) => ({ email: `${name}@globex.example` });

  it.each([
    [
      'a third record has the address of the second',
      [
        { id: 'a', ...profile('own') },
        { id: 'b', ...profile('own'), ...address('chain') },
        { id: 'c', ...address('chain') },
      ],
    ],
    [
      'the second record changes the address of the first',
      [{ id: 'a' }, { id: 'b' }, { id: 'b', ...address('moved') }],
    ],
  ])('the contact keeps its phones if %s', async (_, records) => {
    expect(await contactAfter(...records)).toEqual({ person: records[2]!.id, phone: phones[0] });
  });

  it('the contact loses the phones if the third record has another profile than the first', async () => {
    const records = [{ id: 'a', ...profile('first') }, { id: 'b' }, { id: 'c', ...profile('third') }];
    expect(await contactAfter(...records)).toEqual({ person: 'c', phone: null });
  });
});

describe('an undo after the service gave a new id', () => {
  it('an undo of the run that paid takes the phones away, and a revert brings them back', async () => {
    const call = await endedWithPhones(warehouse);
    const again = await renumberedRun(warehouse, call);
    expect(await measureUndo(warehouse, call.runId)).toMatchObject({ restored: 3, only_phones: 3 });
    await undoRun(warehouse, call.runId, note, signal);
    expect(await phonesOf(warehouse, call)).toEqual(none);
    expect(await valuesOf(warehouse, call, 'person_id')).toEqual(again.ids);
    await expectRebuilt(warehouse);
    await revertUndo(warehouse, call.runId, signal);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await expectRebuilt(warehouse);
  });

  it('an undo of the run with the new id leaves the phones, as does its revert', async () => {
    const call = await endedWithPhones(warehouse);
    const again = await renumberedRun(warehouse, call);
    await undoRun(warehouse, again.runId, note, signal);
    expect(await valuesOf(warehouse, call, 'person_id')).toEqual(call.ids);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    expect(await warehouse.query`select from people where person_id = any(${again.ids})`).toEqual([]);
    await expectRebuilt(warehouse);
    await revertUndo(warehouse, again.runId, signal);
    expect(await valuesOf(warehouse, call, 'person_id')).toEqual(again.ids);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await expectRebuilt(warehouse);
  });

  it('a new id that came during the undo gets the phones with the revert', async () => {
    const call = await endedWithPhones(warehouse);
    await undoRun(warehouse, call.runId, note, signal);
    await renumberedRun(warehouse, call);
    expect(await phonesOf(warehouse, call)).toEqual(none);
    await revertUndo(warehouse, call.runId, signal);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await expectRebuilt(warehouse);
  });

  it.each([
    ['the undone run', false],
    ['two undone runs', true],
  ])('a later run that does not ask again uses the phones of %s', async (_, isEachUndone) => {
    const call = await endedWithPhones(warehouse);
    const again = await renumberedRun(warehouse, call);
    await undoRun(warehouse, call.runId, note, signal);
    if (isEachUndone) await undoRun(warehouse, again.runId, note, signal);
    const later = await callAgain(warehouse, call, { ids: [] });
    await warehouse.query`update run_rows set outcome = 'fresh' where run_id = ${later.runId}`;
    await warehouse.query`
      update runs set options = options || '{"freshness":{"enrichedSeconds":86400,"notFoundSeconds":86400}}'
      where run_id = ${later.runId}`;
    await reconcileContacts(warehouse, later.runId, signal);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    expect(await valuesOf(warehouse, call, 'person_id')).toEqual(again.ids);
    await expectRebuilt(warehouse);
  });
});

it('an erasure of a person with a new id leaves nothing of either id', async () => {
  const call = await endedWithPhones(warehouse);
  const again = await renumberedRun(warehouse, call);
  const figures = await erase(warehouse, [`person:${again.ids[0]}`], note);
  expect(figures).toMatchObject({ contacts: 1, phones: 2 });
  expect(await phonesOf(warehouse, call)).toEqual([null, ...phones.slice(1)]);
  const content = await everything(warehouse);
  for (const text of [call.ids[0]!, again.ids[0]!, call.people[0]!.identity.email!])
    expect(content).not.toContain(text);
  await expectRebuilt(warehouse);
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
    await endCall(warehouse, call);
    const again = await callAgain(warehouse, call, { ids: newIds(call), extras: noExtras });
    const theirs = { 0: { email, proflink_url: null, ...other } };
    await recordPhonesAnswer(warehouse, { ...again, people, stated: theirs }, [1, 0, 0]);
    await endCall(warehouse, again);
    const rows = await warehouse.query`select phone from people where person_id = ${again.ids[0]}`;
    expect(rows).toEqual([{ phone: null }]);
  });

  it('two people whom a later answer distinguishes have only their own phones', async () => {
    const call = await endedWithPhones(warehouse);
    const again = await renumberedRun(warehouse, call);
    const both = await callAgain(warehouse, call, { ids: again.ids, extras: noExtras });
    const { firstName, lastName, email } = call.people[0]!.identity;
    const former = { id: call.ids[0]!, first_name: firstName, last_name: lastName, email };
    await recordPhonesAnswer(warehouse, { ...both, surplus: [former] });
    await endCall(warehouse, both);
    const rows = await warehouse.query`select phone from people where person_id = ${again.ids[0]}`;
    expect(rows).toEqual([{ phone: null }]);
    await expectRebuilt(warehouse);
  });
});
