import { expect } from 'vitest';
import { rebuild } from '../../../src/people/rebuild.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { answeredCall, type LateExtras, type PhonesCall, deliverTo, phonesBody } from './late-calls.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

const { signal } = new AbortController();

/** A call that reveals nothing, and has no late results. */
export const noExtras: LateExtras = { reveal: [], waterfall: [] };

/** The phones of `phonesBody`. */
export const phones = ['+14155550100', '+14155550101', '+14155550102'];
export const none = [null, null, null];

/** Ends the run of a call as the product does. */
export async function endCall(warehouse: TestWarehouse, call: PhonesCall): Promise<void> {
  await reconcileContacts(warehouse, call.runId, signal);
  await endRun(warehouse, call.runId, 'finished', undefined);
}

/** A call of a run that has ended, with its answer and no phones. */
export async function endedCall(warehouse: TestWarehouse, extras?: LateExtras): Promise<PhonesCall> {
  const call = await answeredCall(warehouse, extras);
  await endCall(warehouse, call);
  return call;
}

/** The phones of the contacts of a call; null: the contact has none. */
export async function phonesOf(warehouse: TestWarehouse, call: PhonesCall): Promise<(string | null)[]> {
  const { rows } = await warehouse.pool.query<{ phone: string | null }>(
    `select phone from unnest($1::text[]) with ordinality as n (contact_id, place)
     left join enriched_contacts c using (contact_id) order by place`,
    [call.people.map(({ contactId }) => contactId)],
  );
  return rows.map(({ phone }) => phone);
}

/** Expects that the log leads to the same warehouse. */
export async function expectRebuilt(warehouse: TestWarehouse): Promise<void> {
  expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differing: [] });
}

/** A call for three people, with its answer and all phones, of a run that goes on. */
export async function deliveredCall(warehouse: TestWarehouse): Promise<PhonesCall> {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  return call;
}

/** The call of a run that has ended, and whose phones have come. */
export async function endedWithPhones(warehouse: TestWarehouse): Promise<PhonesCall> {
  const call = await deliveredCall(warehouse);
  await endRun(warehouse, call.runId, 'finished', undefined);
  return call;
}

/** Delivers other phones at a higher price. @returns the settled credits, and the number of new phones */
export async function deliverOtherPhones(
  warehouse: TestWarehouse,
  call: PhonesCall,
): Promise<{ readonly settled: number; readonly phones: number }> {
  const body = phonesBody(call.ids, 26).toString().replaceAll('+1415', '+1416');
  await deliverTo(warehouse, call, Buffer.from(body));
  const rows = await warehouse.query<{ settled: number; phones: number }>`
    select credits_settled::float8 as settled,
      (select count(*)::int from person_phones where run_id = ${call.runId} and number like '+1416%') as phones
    from attempts where attempt_id = ${call.attemptId}`;
  return rows[0]!;
}
