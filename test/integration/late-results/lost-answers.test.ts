import { describe, expect, it } from 'vitest';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { discardAnswers, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  callAgain,
  callWithPhones,
  deliverTo,
  deliveryStatuses,
  drainCall,
  onlyPhones,
  phonesBody,
  recordPhonesAnswer,
  rowsOf,
  storeFor,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import { asked, stagedRun } from '../../helpers/warehouse/rows.ts';
import {
  endCall,
  endedCall,
  expectRebuilt,
  noExtras,
  none,
  phones,
  phonesOf,
} from '../../helpers/warehouse/ended-calls.ts';

const warehouse = await warehouseOfFile();

/** Loses the answer of a call. */
async function lose(call: PhonesCall): Promise<PhonesCall> {
  const { attemptId, runId } = call;
  await warehouse.query`update attempts set status = 'unknown' where attempt_id = ${attemptId}`;
  await warehouse.query`update run_rows set outcome = 'unknown' where run_id = ${runId}`;
  await warehouse.query`delete from claims where run_id = ${runId}`;
  return call;
}

async function lostCall(): Promise<PhonesCall> {
  return lose(await callWithPhones(warehouse));
}

/** A call for phones whose answer was lost, and an earlier call for the same people without phones. */
async function lostAfterAnswer(): Promise<{ readonly earlier: PhonesCall; readonly lost: PhonesCall }> {
  const earlier = await endedCall(warehouse, noExtras);
  const lost = await lose(await callAgain(warehouse, earlier, { ids: earlier.ids, extras: onlyPhones }));
  return { earlier, lost };
}

/** A later call, without phones, for the people of a call. */
async function laterCall(call: PhonesCall): Promise<PhonesCall> {
  return callAgain(warehouse, call, { ids: call.ids, extras: noExtras });
}

async function observationsOf(call: PhonesCall): Promise<string[]> {
  const rows = await warehouse.query<{ id: string }>`
    select person_id as id
    from observations where attempt_id = ${call.attemptId} and kind = 'phones' order by person_id`;
  return rows.map(({ id }) => id);
}

describe('phones of a call whose answer was lost', () => {
  it.each(['pending', 'skipped'] as const)(
    'a later answer with the phone status %s gives its contacts the phones of the lost call',
    async (status) => {
      const lost = await lostCall();
      await deliverTo(warehouse, lost, phonesBody(lost.ids, 24));
      expect(await deliveryStatuses(warehouse, lost)).toEqual(['orphaned']);
      const later = await callAgain(warehouse, lost, { ids: lost.ids });
      await recordPhonesAnswer(warehouse, later, [1, 1, 1], 3, status);
      await drainCall(warehouse, lost);
      expect(await deliveryStatuses(warehouse, lost)).toEqual(['applied']);
      expect(await phonesOf(warehouse, later)).toEqual(phones);
      await expectRebuilt(warehouse);
    },
  );

  it('contacts of an earlier answer get the phones of a call whose answer was lost', async () => {
    const { earlier, lost } = await lostAfterAnswer();
    await deliverTo(warehouse, lost, phonesBody(lost.ids, 24));
    expect(await phonesOf(warehouse, earlier)).toEqual(phones);
    expect(await observationsOf(lost)).toEqual(lost.ids);
  });

  it('the phones of a call whose answer was lost count as asked for, and no later call asks for them', async () => {
    const { lost } = await lostAfterAnswer();
    await deliverTo(warehouse, lost, phonesBody(lost.ids.slice(0, 2), 16));
    const { runId } = await stagedRun(warehouse, rowsOf(lost));
    const { dropped } = await planRows(warehouse, runId, { ...asked, fieldGroups: ['profile', 'phone'] });
    expect(dropped).toMatchObject({ fresh: 2 });
  });

  /** The people of a call by what a later run with phones leaves out for them. */
  async function leftOutFor(call: PhonesCall): Promise<unknown> {
    const { runId } = await stagedRun(warehouse, rowsOf(call));
    const { byLeftOut } = await planRows(warehouse, runId, { ...asked, fieldGroups: ['profile', 'phone'] });
    return byLeftOut.map(({ groups, people }) => [groups, people]);
  }

  it('a later run asks for no phones if deliveries of a lost call have those of all its people', async () => {
    const lost = await lostCall();
    await deliverTo(warehouse, lost, phonesBody(lost.ids.slice(0, 2), 16));
    expect(await leftOutFor(lost)).toEqual([[[], 3]]);
    await deliverTo(warehouse, lost, phonesBody(lost.ids.slice(2), 8));
    expect(await deliveryStatuses(warehouse, lost)).toEqual(['orphaned', 'orphaned']);
    expect(await leftOutFor(lost)).toEqual([[['phone'], 3]]);
    const later = await laterCall(lost);
    await recordPhonesAnswer(warehouse, later);
    await drainCall(warehouse, lost);
    expect(await phonesOf(warehouse, later)).toEqual([phones[0], phones[1], phones[0]]);
  });

  it('a person for whom a delivery of a lost call has no phone counts as asked for without a result', async () => {
    const lost = await lostCall();
    const [id] = lost.ids;
    const person = { id, phone_numbers: [] };
    await deliverTo(warehouse, lost, Buffer.from(JSON.stringify({ credits_consumed: 0, people: [person] })));
    await recordPhonesAnswer(warehouse, await laterCall(lost));
    await drainCall(warehouse, lost);
    const { rows } = await warehouse.pool.query<{ found: boolean; ofCall: boolean }>(
      `select found, asked_at = (select admitted_at from attempts where attempt_id = $2) as "ofCall"
       from lookup_history where field_group = 'phone' and key_hash = key_hash($1, 'test')`,
      [`person:${id}`, lost.attemptId],
    );
    expect(rows).toEqual([{ found: false, ofCall: true }]);
  });

  it('an undo of the run whose answer was lost keeps the phones until the answers are discarded', async () => {
    const lost = await lostCall();
    await deliverTo(warehouse, lost, phonesBody(lost.ids, 24));
    const later = await laterCall(lost);
    await recordPhonesAnswer(warehouse, later);
    await drainCall(warehouse, lost);
    await endCall(warehouse, lost);
    const { signal } = new AbortController();
    await undoRun(warehouse, lost.runId, { by: 'test', reason: undefined }, signal);
    expect(await phonesOf(warehouse, later)).toEqual(phones);
    await discardAnswers(warehouse, lost.runId, signal);
    expect(await phonesOf(warehouse, later)).toEqual(none);
    await expectRebuilt(warehouse);
  });

  it('a body of a lost call is applied once for each person if its people become known one after another', async () => {
    const lost = await lostCall();
    await deliverTo(warehouse, lost, phonesBody(lost.ids, 24));
    const later = await laterCall(lost);
    await recordPhonesAnswer(warehouse, later, [1, 0, 0], 1);
    await drainCall(warehouse, lost);
    expect(await observationsOf(lost)).toEqual(lost.ids.slice(0, 1));
    await recordPhonesAnswer(warehouse, lost);
    await drainCall(warehouse, lost);
    expect(await observationsOf(lost)).toEqual(lost.ids);
    expect(await phonesOf(warehouse, lost)).toEqual(phones);
    await expectRebuilt(warehouse);
  });

  it('people of other calls for whom the lost call did not ask get no phones of it', async () => {
    const lost = await lostCall();
    const other = await answeredCall(warehouse, noExtras);
    await deliverTo(warehouse, lost, phonesBody([lost.ids[0]!, ...other.ids], 8));
    expect(await phonesOf(warehouse, other)).toEqual(none);
    const later = await laterCall(lost);
    await recordPhonesAnswer(warehouse, later);
    await drainCall(warehouse, lost);
    expect(await phonesOf(warehouse, other)).toEqual(none);
    expect(await observationsOf(lost)).toEqual(lost.ids.slice(0, 1));
  });

  it('a delivery of a lost call waits for an answer that is being stored, which can name its people', async () => {
    const lost = await lostCall();
    await deliverTo(warehouse, lost, phonesBody(lost.ids.slice(0, 2), 16));
    await storeFor(warehouse, lost, phonesBody(lost.ids.slice(2), 8));
    const later = await laterCall(lost);
    const { pool } = warehouse;
    const other = await pool.connect();
    await other.query('begin');
    // The answer is queued when it returns this delivery to the inbox.
    await other.query(
      `select from webhook_deliveries where attempt_id = $1 and status = 'orphaned' for update`,
      [lost.attemptId],
    );
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const works: Promise<void>[] = [];
    for (const work of [() => recordPhonesAnswer(warehouse, later), () => drainCall(warehouse, lost)]) {
      works.push(work());
      await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(works.length);
    }
    await other.query('rollback');
    other.release();
    await Promise.all(works);
    await drainCall(warehouse, lost);
    expect(await phonesOf(warehouse, later)).toEqual([phones[0], phones[1], phones[0]]);
  });
});
