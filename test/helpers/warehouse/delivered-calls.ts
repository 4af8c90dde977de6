import { endRun } from '../../../src/runs/finish-run.ts';
import { answeredCall, deliverTo, phonesBody, type PhonesCall } from './late-calls.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

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
