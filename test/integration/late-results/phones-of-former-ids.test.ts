import { describe, expect, it } from 'vitest';
import { readAnswersAgain } from '../../../src/calls/answers/read-answers-again.ts';
import { drainInbox } from '../../../src/late-results/sync-late-results.ts';
import { appendToLog } from '../../../src/people/log/append-to-log.ts';
import { keyOfId } from '../../../src/people/log/observation.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { openTestWarehouse, warehouseOfFile } from '../../helpers/database/database.ts';
import { rowsReadByTable } from '../../helpers/database/rows-read.ts';
import { appendContact } from '../../helpers/warehouse/append-contact.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import {
  answeredCall,
  booksOf,
  callAgain,
  callWithPhones,
  deliverTo,
  deliveryStatuses,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import {
  endCall,
  endedCall,
  expectRebuilt,
  newIds,
  noExtras,
  none,
  phones,
  phonesOf,
  renumberedRun,
} from '../../helpers/warehouse/renumbered-runs.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile();

describe('phones that arrive for the former id of a person', () => {
  async function contactsInFeed(after: string): Promise<unknown[]> {
    return warehouse.query`
      select contact_id, field_groups from changes where change_id > ${after}::bigint order by contact_id`;
  }

  it('the contacts get the phones, and the feed has the change', async () => {
    const call = await endedCall(warehouse);
    await renumberedRun(warehouse, call);
    expect(await phonesOf(warehouse, call)).toEqual(none);
    const rows = await warehouse.query<{ last: string }>`select max(change_id)::text as last from changes`;
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    expect(await contactsInFeed(rows[0]!.last)).toEqual(
      call.people.map(({ contactId }) => ({ contact_id: contactId, field_groups: ['phone'] })),
    );
    await expectRebuilt(warehouse);
  });

  it('the contacts get phones that arrive under the new id, at the price of the first call', async () => {
    const call = await endedCall(warehouse);
    await renumberedRun(warehouse, call);
    await deliverTo(warehouse, call, phonesBody(newIds(call), 24));
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    expect(await booksOf(warehouse, call)).toMatchObject({ status: 'settled', settled: 27 });
    await expectRebuilt(warehouse);
  });

  it('one rebuild gives contacts their keys again, and the phones of these keys', async () => {
    const call = await endedCall(warehouse);
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    await renumberedRun(warehouse, call);
    await warehouse.pool.query('update contacts set person_keys = null where contact_id = any($1)', [
      call.people.map(({ contactId }) => contactId),
    ]);
    await rebuild(warehouse, { check: false, signal: new AbortController().signal });
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await expectRebuilt(warehouse);
  });

  it('phones under the id of another person of the warehouse reach no contact', async () => {
    const call = await answeredCall(warehouse);
    await renumberedRun(warehouse, call);
    const other = await answeredCall(warehouse);
    await deliverTo(warehouse, call, phonesBody(other.ids, 24));
    expect([await phonesOf(warehouse, call), await phonesOf(warehouse, other)]).toEqual([none, none]);
  });

  it('the contacts get results of a waterfall under an unknown id that have their address', async () => {
    const asking = await callWithPhones(warehouse, { reveal: [], waterfall: ['phone'] });
    const email = `other-${asking.ids[0]}@orbit.example`;
    const stated = { 0: { email, personal_emails: [asking.people[0]!.identity.email!] } };
    const call = { ...asking, stated };
    await recordPhonesAnswer(warehouse, call);
    await endCall(warehouse, call);
    await renumberedRun(warehouse, call);
    const { people } = JSON.parse(phonesBody(['of-a-vendor'], 8).toString()) as { people: object[] };
    const body = { request_id: call.requestId, people: [{ ...people[0], emails: [{ email }] }] };
    await deliverTo(warehouse, call, Buffer.from(JSON.stringify(body)));
    expect(await phonesOf(warehouse, call)).toEqual([phones[0], null, null]);
  });

  it('the contacts get phones that arrive before the end of the run with the new id', async () => {
    const call = await endedCall(warehouse);
    const again = await callAgain(warehouse, call, { ids: newIds(call), extras: noExtras });
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    await recordPhonesAnswer(warehouse, again);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
  });
});

describe('phones that arrive under a new id before an answer has this id', () => {
  /** A call whose phones have arrived under new ids, and reached no contact. */
  async function callWithoutPhones(): Promise<PhonesCall> {
    const call = await endedCall(warehouse);
    await deliverTo(warehouse, call, phonesBody(newIds(call), 24));
    expect(await deliveryStatuses(warehouse, call)).toEqual(['quarantined']);
    return call;
  }

  it('the sweep gives the contacts the phones after an answer has shown the new ids, once', async () => {
    const call = await callWithoutPhones();
    await deliverTo(warehouse, call, phonesBody(newIds(call), 24, { part: 'pruned' }));
    await warehouse.query`
      update webhook_deliveries set body = null
      where delivery_id = (select delivery_id from webhook_deliveries order by received_at desc limit 1)`;
    await deliverTo(warehouse, call, phonesBody(newIds(call), 24));
    await renumberedRun(warehouse, call);
    await drainInbox(warehouse, 'unattended', signal);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    expect(await booksOf(warehouse, call)).toMatchObject({ status: 'settled', settled: 27 });
    expect(await deliveryStatuses(warehouse, call)).toEqual(['applied', 'quarantined', 'duplicate']);
    await renumberedRun(warehouse, call);
    expect(await deliveryStatuses(warehouse, call)).toEqual(['applied', 'quarantined', 'duplicate']);
    await expectRebuilt(warehouse);
  });

  it('a contact gets the phones of both ids if one body names the person by both', async () => {
    const call = await endedCall(warehouse);
    const [first, second, third] = call.ids as [string, string, string];
    await deliverTo(warehouse, call, phonesBody([first, second, third, `new-${first}`], 32));
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await renumberedRun(warehouse, call, [`new-${first}`, second, third]);
    await drainCall(warehouse, call);
    await renumberedRun(warehouse, call, [`new-${first}`, second, third]);
    expect(await deliveryStatuses(warehouse, call)).toEqual(['applied']);
    const { rows } = await warehouse.pool.query(
      `select number from person_phones where person_id = $1 order by 1`,
      [`new-${first}`],
    );
    expect(rows).toEqual([{ number: phones[0] }, { number: '+14155550103' }]);
    await expectRebuilt(warehouse);
    expect(await readAnswersAgain(warehouse, signal)).toMatchObject({ changed: 0 });
  });

  it('a contact gets the phones of the new id if the body names the former id twice', async () => {
    const call = await endedCall(warehouse);
    const [first, second, third] = call.ids as [string, string, string];
    await deliverTo(warehouse, call, phonesBody([first, second, third, first, `new-${first}`], 40));
    await renumberedRun(warehouse, call, [`new-${first}`, second, third]);
    await drainCall(warehouse, call);
    const { rows } = await warehouse.pool.query(
      `select number from person_phones where person_id = $1 order by 1`,
      [`new-${first}`],
    );
    expect(rows).toEqual([phones[0], '+14155550103', '+14155550104'].map((number) => ({ number })));
    await expectRebuilt(warehouse);
  });

  it('a number that one body has for both ids has the do-not-call status of the new id', async () => {
    const call = await endedCall(warehouse);
    const [first, second, third] = call.ids as [string, string, string];
    const number = { sanitized_number: phones[0], status_cd: 'valid_number' };
    const people = [
      { id: first, phone_numbers: [number] },
      { id: `new-${first}`, phone_numbers: [{ ...number, dnc_status_cd: 'listed' }] },
    ];
    await deliverTo(warehouse, call, Buffer.from(JSON.stringify({ credits_consumed: 8, people })));
    await renumberedRun(warehouse, call, [`new-${first}`, second, third]);
    await drainCall(warehouse, call);
    const { rows } = await warehouse.pool.query(
      `select number, dnc_status from person_phones where person_id = $1`,
      [`new-${first}`],
    );
    expect(rows).toEqual([{ number: phones[0], dnc_status: 'listed' }]);
  });

  it('a contact has one entry in the history if one body has the same phones for both ids', async () => {
    const call = await endedCall(warehouse);
    const [first, second, third] = call.ids as [string, string, string];
    const newId = `new-${first}`;
    const body = phonesBody([first, second, third, newId], 32)
      .toString()
      .replace('+14155550103', '+14155550100');
    await deliverTo(warehouse, call, Buffer.from(body));
    await renumberedRun(warehouse, call, [newId, second, third]);
    await drainCall(warehouse, call);
    const { rows } = await warehouse.pool.query(
      `select person_key, count(*)::int as entries from observations
       where kind = 'phones' and origin_observation_id is null and person_key = any($1) group by 1 order by 1`,
      [[...call.ids, newId].map((id) => `person:${id}`)],
    );
    expect(rows).toEqual(call.ids.map((id) => ({ person_key: `person:${id}`, entries: 1 })));
  });

  it('a contact gets the phones if the same body has brought those of other people before', async () => {
    const call = await endedCall(warehouse);
    const [first, second, third] = call.ids as [string, string, string];
    await deliverTo(warehouse, call, phonesBody([first, `new-${second}`, third], 24));
    expect(await phonesOf(warehouse, call)).toEqual([phones[0], null, phones[2]]);
    for (const ids of [[first, `new-${second}`, third], newIds(call)]) {
      await renumberedRun(warehouse, call, ids);
      await drainCall(warehouse, call);
      expect(await phonesOf(warehouse, call)).toEqual(phones);
      expect(await deliveryStatuses(warehouse, call)).toEqual(['applied']);
    }
    expect(await booksOf(warehouse, call)).toMatchObject({ status: 'settled', settled: 27 });
    const rows = await warehouse.query`
      select person_id from observations where attempt_id = ${call.attemptId} and kind = 'phones' order by 1`;
    expect(rows).toEqual(call.ids.map((id) => ({ person_id: id })));
    await expectRebuilt(warehouse);
  });

  it('the contacts get the phones if the answer with the new ids was undone until then', async () => {
    const call = await endedCall(warehouse);
    const again = await renumberedRun(warehouse, call);
    await undoRun(warehouse, again.runId, note, signal);
    await deliverTo(warehouse, call, phonesBody(newIds(call), 24));
    expect(await phonesOf(warehouse, call)).toEqual(none);
    await revertUndo(warehouse, again.runId, signal);
    await drainCall(warehouse, call);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    await expectRebuilt(warehouse);
  });

  it('the contacts get phones that arrive while the answer with the new ids is recorded', async () => {
    const call = await endedCall(warehouse);
    const again = await callAgain(warehouse, call, { ids: newIds(call), extras: noExtras });
    for (const id of newIds(call))
      await appendContact(warehouse, { contactId: `other-${id}`, runId: call.runId, person: { id } });
    const delivered = await warehouse.database.transaction().execute(async (transaction) => {
      const matches = call.people.map(({ contactId, rowNumber }, index) => ({
        source: 'generic',
        contact_id: contactId,
        person_key: keyOfId(call.ids[index]!),
        person_keys: [call.ids[index]!, newIds(call)[index]!].map(keyOfId).toSorted(),
        evidence: 'email',
        asked: true,
        run_id: again.runId,
        attempt_id: again.attemptId,
        row_number: rowNumber,
        match_keys: null,
        decided_at: 'now',
      }));
      await appendToLog(transaction, 'test', { observations: [], matches });
      const delivering = deliverTo(warehouse, call, phonesBody(newIds(call), 24));
      await Promise.race([delivering, lockAwaited()]);
      return { delivering };
    });
    await delivered.delivering;
    await drainCall(warehouse, call);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
  });

  it('an answer with new ids reads few deliveries of other calls, with plans from an empty warehouse', async () => {
    const alone = await openTestWarehouse({ connections: 1 });
    const call = await answeredCall(alone);
    await alone.query`
      insert into webhook_deliveries (delivery_id, attempt_id, run_id, body, body_sha256, status)
      select n, n, 'another', '', '', 'applied' from generate_series(1, 5000) n`;
    const before = await rowsReadByTable(alone);
    await renumberedRun(alone, call);
    const after = await rowsReadByTable(alone);
    const read = after.get('webhook_deliveries')! - before.get('webhook_deliveries')!;
    await alone.close();
    expect(read).toBeLessThan(100);
  });

  /** Waits until a transaction of the database waits for a lock of another. */
  async function lockAwaited(): Promise<void> {
    const waiting = async (): Promise<number> => {
      const rows = await warehouse.query`
        select from pg_locks where not granted and database = (
        select oid from pg_database where datname = current_database())`;
      return rows.length;
    };
    await expect.poll(waiting).toBeGreaterThan(0);
  }
});
