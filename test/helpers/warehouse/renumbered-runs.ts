import { expect } from 'vitest';
import { rebuild } from '../../../src/people/rebuild.ts';
import { endRun } from '../../../src/runs/end-run.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import {
  answeredCall,
  callAgain,
  recordPhonesAnswer,
  type LateExtras,
  type PhonesCall,
} from './late-calls.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

const { signal } = new AbortController();

/** A call that reveals nothing, and has no late results. */
export const noExtras: LateExtras = { reveal: [], waterfall: [] };

/** The phones of `phonesBody`. */
export const phones = ['+14155550100', '+14155550101', '+14155550102'];
export const none = [null, null, null];

/** Other ids for the people of a call. */
export const newIds = (call: PhonesCall): string[] => call.ids.map((id) => `new-${id}`);

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

/** A run for the people of an earlier call, whose answer names them by other ids. */
export async function renumberedRun(
  warehouse: TestWarehouse,
  call: PhonesCall,
  ids = newIds(call),
): Promise<PhonesCall> {
  const again = await callAgain(warehouse, call, { ids, extras: noExtras });
  await recordPhonesAnswer(warehouse, { ...again, ...(call.stated && { stated: call.stated }) });
  await endCall(warehouse, again);
  return again;
}

/** The values of the contacts of a call; null: the contact has none. */
export async function valuesOf(
  warehouse: TestWarehouse,
  call: PhonesCall,
  column: 'person_id' | 'phone',
): Promise<(string | null)[]> {
  const { rows } = await warehouse.pool.query<{ value: string | null }>(
    `select ${column} as value from unnest($1::text[]) with ordinality as n (contact_id, place)
     left join enriched_contacts c using (contact_id) order by place`,
    [call.people.map(({ contactId }) => contactId)],
  );
  return rows.map(({ value }) => value);
}

/** The phones of the contacts of a call. */
export function phonesOf(warehouse: TestWarehouse, call: PhonesCall): Promise<(string | null)[]> {
  return valuesOf(warehouse, call, 'phone');
}

/** Expects that the log leads to the same warehouse. */
export async function expectRebuilt(warehouse: TestWarehouse): Promise<void> {
  expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differing: [] });
}
