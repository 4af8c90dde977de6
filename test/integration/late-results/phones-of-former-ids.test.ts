import { describe, expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  booksOf,
  callAgain,
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
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
} from '../../helpers/warehouse/renumbered-runs.ts';

const warehouse = await warehouseOfFile();

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
    await endCall(warehouse, call);
    await renumberedRun(warehouse, call);
    expect(await phonesOf(warehouse, call)).toEqual(none);
    const { rows } = await warehouse.pool.query<{ last: string }>(
      'select max(change_id)::text as last from changes',
    );
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    expect(await contactsInFeed(rows[0]!.last)).toEqual(
      call.people.map(({ contactId }) => ({ contact_id: contactId, field_groups: ['phone'] })),
    );
    await expectRebuilt(warehouse);
  });

  it('the contacts get phones that arrive under the new id, at the price of the first call', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await endCall(warehouse, call);
    await renumberedRun(warehouse, call);
    await deliverTo(warehouse, call, phonesBody(newIds(call), 24));
    expect(await phonesOf(warehouse, call)).toEqual(phones);
    expect(await booksOf(warehouse, call)).toMatchObject({ status: 'settled', settled: 27 });
    await expectRebuilt(warehouse);
  });

  it('phones under the id of another person of the warehouse reach no contact', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await renumberedRun(warehouse, call);
    const other = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, other);
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
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await endCall(warehouse, call);
    const again = await callAgain(warehouse, call, { ids: newIds(call), extras: noExtras });
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    await recordPhonesAnswer(warehouse, again);
    expect(await phonesOf(warehouse, call)).toEqual(phones);
  });
});
