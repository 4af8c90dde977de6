import { expect, it } from 'vitest';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { discardAnswers, undoRun } from '../../../src/runs/undo-run.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  readCallCredits,
  callAgain,
  callWithPhones,
  deliverTo,
  deliveryStatuses,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  rowsOfCall,
  type PhonesCall,
  phonesOf,
} from '../../helpers/warehouse/late-calls.ts';
import { testLookupRequest, stagedRun, testNote, noSignal } from '../../helpers/warehouse/rows.ts';
import { expectRebuildEqual } from '../../helpers/database/contents.ts';
import { endPlayedRun } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();

/** A call whose answer is lost. */
async function lostCall(): Promise<PhonesCall> {
  const call = await callWithPhones(warehouse);
  const { attemptId, runId } = call;
  await warehouse.query`update attempts set status = 'unknown' where attempt_id = ${attemptId}`;
  await warehouse.query`update run_rows set outcome = 'unknown' where run_id = ${runId}`;
  await warehouse.query`delete from claims where run_id = ${runId}`;
  return call;
}

/** Delivers all phones of a call whose answer is lost. */
async function lostCallWithPhones(): Promise<PhonesCall> {
  const lost = await lostCall();
  await deliverTo(warehouse, lost, phonesBody(lost.ids, 24));
  return lost;
}

const noExtras = { reveal: [], waterfall: [] };
/** The phone numbers that `phonesBody` delivers. */
const phonesOfBody = ['+14155550100', '+14155550101', '+14155550102'];

async function observationsOf(call: PhonesCall): Promise<string[]> {
  const rows = await warehouse.query<{ id: string }>`
    select person_id as id
    from observations where attempt_id = ${call.attemptId} and kind = 'phones' order by person_id`;
  return rows.map(({ id }) => id);
}

it.each(['pending', 'skipped'] as const)(
  'phones of a call without an answer reach contacts when a later answer has the phone status %s',
  async (status) => {
    const lost = await lostCallWithPhones();
    expect(await deliveryStatuses(warehouse, lost)).toEqual(['applied']);
    const later = await callAgain(warehouse, lost);
    await recordPhonesAnswer(warehouse, later, [1, 1, 1], 3, status);
    expect(await phonesOf(warehouse, later)).toEqual(phonesOfBody);
    await expectRebuildEqual(warehouse);
  },
);

it('phones of a call without an answer are stored under the person ids of the delivery', async () => {
  const lost = await lostCallWithPhones();
  const people = await warehouse.query<{ id: string; said: string }>`
    select p.person_id as id, o.kind as said
    from person_phones p
    join people using (service, person_key)
    join observations o on o.observation_id = (people.said_by ->> 'person_id')::bigint
    where p.attempt_id = ${lost.attemptId} order by 1`;
  expect(people).toEqual(lost.ids.map((id) => ({ id, said: 'phones' })));
  await expectRebuildEqual(warehouse);
});

it('after phones of a call without an answer arrive, the next run requests its people without phones', async () => {
  const lost = await lostCall();
  const request = { ...testLookupRequest, fieldGroups: ['profile', 'phone'] };
  const plan = async () => {
    const { runId } = await stagedRun(warehouse, rowsOfCall(lost));
    const { byLeftOut } = await planRows(warehouse, runId, request);
    return byLeftOut.map(({ groups, people }) => [groups, people]);
  };
  expect(await plan()).toEqual([[[], 3]]);
  await deliverTo(warehouse, lost, phonesBody(lost.ids.slice(0, 2), 16));
  expect(await plan()).toEqual([[['phone'], 3]]);
  await deliverTo(warehouse, lost, phonesBody(lost.ids.slice(2), 8));
  const later = await callAgain(warehouse, lost, noExtras);
  await recordPhonesAnswer(warehouse, later);
  expect(await phonesOf(warehouse, later)).toEqual([phonesOfBody[0], phonesOfBody[1], phonesOfBody[0]]);
});

it('undoing a run keeps phones of its call without an answer; discarding the answers removes them', async () => {
  const lost = await lostCallWithPhones();
  const later = await callAgain(warehouse, lost, noExtras);
  await recordPhonesAnswer(warehouse, later);
  await endPlayedRun(warehouse, lost.runId);
  await undoRun(warehouse, lost.runId, testNote, noSignal);
  expect(await phonesOf(warehouse, later)).toEqual(phonesOfBody);
  await discardAnswers(warehouse, lost.runId, noSignal);
  expect(await phonesOf(warehouse, later)).toEqual([null, null, null]);
  await expectRebuildEqual(warehouse);
});

it('an answer recorded after the delivery of its call settles both prices, and keeps each phone once', async () => {
  const lost = await lostCallWithPhones();
  await recordPhonesAnswer(warehouse, lost);
  await drainCall(warehouse, lost);
  expect(await observationsOf(lost)).toEqual(lost.ids);
  expect(await phonesOf(warehouse, lost)).toEqual(phonesOfBody);
  expect(await readCallCredits(warehouse, lost)).toMatchObject({ status: 'settled', settled: 27 });
  await expectRebuildEqual(warehouse);
});

it('an erasure removes a person who is only in deliveries of a call without an answer', async () => {
  const lost = await lostCallWithPhones();
  const { email } = lost.people[0]!.identity;
  await erase(warehouse, [`email:${email}`], testNote);
  expect(await observationsOf(lost)).toEqual([]);
});
