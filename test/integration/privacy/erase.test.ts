import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { findNamesakes } from '../../../src/privacy/person-traces.ts';
import { erase, measureErasure } from '../../../src/privacy/erase.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  answeredCall,
  callWithPhones,
  deliverTo,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  storeDeliveryFor,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import {
  readAllTablesAsText,
  readColumnStatistics,
  untilLockAwaited,
} from '../../helpers/database/contents.ts';
import {
  runningRunOf,
  plannedRun,
  plannedOutcomes,
  personOf,
  playRun,
} from '../../helpers/warehouse/scripted-calls.ts';
import { testLookupRequest, outcomesOf, stagedRun, testNote } from '../../helpers/warehouse/rows.ts';

const note = { by: 'somebody', reason: 'ticket 17' };

/** The counts of an erasure of a person whom one call found. */
const traces = {
  contacts: 1,
  phones: 1,
  observations: 2,
  rows: 1,
  answers: 1,
  deliveries: 1,
  lookup_keys: 2,
};
const warehouse = await warehouseOfFile();

/** Three people with their phones; the body of the answer is kept, and names them. */
async function enrichedCall(): Promise<PhonesCall> {
  const call = await answeredCall(warehouse);
  await warehouse.query`
    update raw_answers set body_gzip = ${gzipSync(JSON.stringify(call.people))} where attempt_id = ${call.attemptId}`;
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  return call;
}

function first(call: PhonesCall): { email: string; personId: string; lastName: string } {
  const { email, lastName } = call.people[0]!.identity;
  return { email: email!, lastName: lastName!, personId: call.ids[0]! };
}

it('an erasure removes all data of the person, records itself, and keeps other rows and credits', async () => {
  const call = await enrichedCall();
  const { email, lastName, personId } = first(call);
  await warehouse.query`analyze`;
  for (const before of [await readAllTablesAsText(warehouse), await readColumnStatistics(warehouse)])
    expect([email, lastName, personId].every((text) => before.includes(text))).toBe(true);

  const measured = await measureErasure(warehouse, [`email:${email}`]);
  expect(await erase(warehouse, [`email:${email}`], note)).toEqual(measured);
  expect(measured).toEqual(traces);

  const after = (await readAllTablesAsText(warehouse)) + (await readColumnStatistics(warehouse));
  expect([email, lastName, personId].filter((text) => after.includes(text))).toEqual([]);
  const others = await warehouse.query`
    select person_id from enriched_contacts where run_id = ${call.runId} and phone is not null order by 1`;
  expect(others).toEqual([{ person_id: call.ids[1] }, { person_id: call.ids[2] }]);
  expect(await warehouse.query`select erased_by, reason, removed from erasures`).toEqual([
    { erased_by: 'somebody', reason: 'ticket 17', removed: traces },
  ]);
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'enriched', 'enriched']);
  const rows = await warehouse.query`
    select people, found_people, trim_scale(credits_settled)::text as settled
    from attempts where attempt_id = ${call.attemptId}`;
  expect(rows).toEqual([{ people: 3, found_people: 3, settled: '27' }]);
});

it('an erasure fails with erasure.samples-left if planner statistics still have values of the person', async () => {
  const call = await enrichedCall();
  const keys = [`email:${first(call).email}`];
  await warehouse.query`analyze`;
  const other = await warehouse.pool.connect();
  await other.query('begin; lock table run_rows in share update exclusive mode');
  const ended = erase(warehouse, keys, note).catch((error: unknown) => error);
  await untilLockAwaited(warehouse);
  await warehouse.query`
    select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  expect(await ended).toMatchObject({ type: 'erasure.samples-left', exitCode: 1 });
  await other.query('rollback');
  other.release();
  expect(await readAllTablesAsText(warehouse)).not.toContain(first(call).email);
  expect(await readColumnStatistics(warehouse)).toContain(first(call).email);
  await erase(warehouse, keys, note);
  expect(await readColumnStatistics(warehouse)).not.toContain(first(call).email);
});

it.each(['hubspot', 'generic'])(
  'a new row in the CRM record of an erased person is suppressed, although its e-mail is new (%s export)',
  async (source) => {
    const [person] = (await enrichedCall()).people;
    const { email, ...name } = person!.identity;
    const record = `record-${source}`;
    await runningRunOf(warehouse, [{ email: email!, ...name, contactId: record }], { source });
    await erase(warehouse, [`email:${email}`], note);
    const rowsAgain = [
      { email: 'new@orbit.example', ...name, contactId: record },
      { email: 'zoe@orbit.example', contactId: `${record}-other` },
    ];
    const again = await runningRunOf(warehouse, rowsAgain, { source });
    expect(await outcomesOf(warehouse, again)).toEqual(['suppressed', null]);
    const rows = await warehouse.query`
      select email, first_name from run_rows where run_id = ${again} and row_number = 1`;
    expect(rows).toEqual([{ email: null, first_name: null }]);
  },
);

it('an erasure by person id also clears rows of other exports that share an e-mail or a profile', async () => {
  const call = await enrichedCall();
  const { email, personId } = first(call);
  const later = await stagedRun(warehouse, [
    { keys: [`email:${email}`, 'profile:linkedin.com/in/other-name'], email },
    { keys: ['profile:linkedin.com/in/other-name'] },
    { keys: ['profile:linkedin.com/in/somebody-else'] },
  ]);
  expect(await erase(warehouse, [`person:${personId}`], note)).toMatchObject({ contacts: 1, rows: 3 });
  const rows = await warehouse.query`
    select keys from run_rows where run_id = ${later.runId} order by row_number`;
  expect(rows).toEqual([{ keys: [] }, { keys: [] }, { keys: ['profile:linkedin.com/in/somebody-else'] }]);
});

it('an erasure removes the person from a waiting delivery, and the phones of others are applied', async () => {
  const call = await answeredCall(warehouse);
  await storeDeliveryFor(warehouse, call, phonesBody(call.ids, 24));
  const { email, personId } = first(call);
  await erase(warehouse, [`email:${email}`], note);
  await drainCall(warehouse, call);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  expect(await readAllTablesAsText(warehouse)).not.toContain(personId);
  const rows = await warehouse.query`
    select person_id from person_phones where run_id = ${call.runId} order by 1`;
  expect(rows).toEqual([{ person_id: call.ids[1] }, { person_id: call.ids[2] }]);
});

async function reasonsOf({ runId }: { runId: string }): Promise<(string | null)[]> {
  const rows = await warehouse.query<{ reason: string | null }>`
    select reason from run_rows where run_id = ${runId} order by row_number`;
  return rows.map(({ reason }) => reason);
}

it('the answer about a person erased during the call is discarded, and the reason of the row says so', async () => {
  const call = await callWithPhones(warehouse);
  const { email, personId } = first(call);
  await erase(warehouse, [`email:${email}`], note);
  const erased = 'erased before an answer was recorded';
  expect(await reasonsOf(call)).toEqual([erased, null, null]);
  await recordPhonesAnswer(warehouse, call);
  expect(await reasonsOf(call)).toEqual([`${erased}; the answer was discarded`, null, null]);
  expect(await outcomesOf(warehouse, call.runId)).toEqual(['suppressed', 'enriched', 'enriched']);
  expect(await warehouse.query`select 1 from enriched_contacts where person_id = ${personId}`).toEqual([]);
});

it('a person who is erased before the call gets the outcome suppressed', async () => {
  const runId = await plannedRun(warehouse, [{ personId: 'early' }, { personId: 'other' }]);
  await openPage(warehouse, runId, 1, testLookupRequest);
  await erase(warehouse, ['person:early'], note);
  expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed', null]);
  expect(await reasonsOf({ runId })).toEqual(['erased before an answer was recorded', null]);
});

it('an erasure of an unknown person puts the person on the suppression list', async () => {
  const removed = await erase(warehouse, ['email:nobody@orbit.example'], note);
  expect(removed).toEqual(Object.fromEntries(Object.keys(traces).map((name) => [name, 0])));
  expect(await plannedOutcomes(warehouse, [{ email: 'nobody@orbit.example' }])).toEqual(['suppressed']);
});

it('an erasure that runs while the answer is recorded leaves nothing of the person', async () => {
  const calls = await Promise.all(Array.from({ length: 6 }, () => callWithPhones(warehouse)));
  await Promise.all(
    calls.flatMap((call) => [
      recordPhonesAnswer(warehouse, call),
      erase(warehouse, [`email:${first(call).email}`], note),
    ]),
  );
  const kept = await readAllTablesAsText(warehouse);
  expect(calls.map((call) => first(call).personId).filter((id) => kept.includes(id))).toEqual([]);
});

it('findNamesakes() lists a person of the same name but another e-mail that the call for a row found', async () => {
  const ada = { email: 'ada@acme.example', firstName: 'Ada', lastName: 'Novak' };
  const bob = { email: 'bob@acme.example', firstName: 'Bob', lastName: 'Quist' };
  // The service has merged the person's records: another id, and another e-mail at the same domain.
  const merged = personOf(ada, { id: 'merged', email: 'ada.novak@acme.example' });
  await playRun(warehouse, [ada, bob], [merged, personOf(bob)]);
  expect(await findNamesakes(warehouse, ['email:ada@acme.example'])).toEqual(['person:merged']);
  await erase(warehouse, ['person:merged'], testNote);
  expect(await findNamesakes(warehouse, ['email:ada@acme.example'])).toEqual([]);
});

it('findNamesakes() lists nobody if the call for a row found a person with the e-mail of the row', async () => {
  const row = { email: 'zoe@acme.example', firstName: 'Zoe', lastName: 'Lind' };
  await playRun(warehouse, [row], [personOf(row)]);
  expect(await findNamesakes(warehouse, ['email:zoe@acme.example'])).toEqual([]);
});
