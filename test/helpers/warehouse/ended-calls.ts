import { expect } from 'vitest';
import { rebuild } from '../../../src/people/rebuild.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { answeredCall, type LateExtras, type PhonesCall } from './late-calls.ts';
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
