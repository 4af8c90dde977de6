import { expect, it } from 'vitest';
import { erase } from '../../../src/privacy/erase.ts';
import { finishRun } from '../../../src/runs/finish-run.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { discardAnswers, measureUndo, revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { readAllTablesAsText, readComputedTables } from '../../helpers/database/contents.ts';
import { deliverTo, phonesBody, endedWithPhones, answeredCall } from '../../helpers/warehouse/late-calls.ts';
import {
  addToSuppressionList,
  outcomesOf,
  stagedRun,
  type StagedRow,
  testNote,
  noSignal,
  neverFresh,
} from '../../helpers/warehouse/rows.ts';
import {
  runningRunOf,
  plannedRun,
  plannedOutcomes,
  personOf,
  endPlayedRun,
  playRun,
  readContact,
} from '../../helpers/warehouse/scripted-calls.ts';
import type { Person } from '../../../src/domain/identity/person.ts';

const warehouse = await warehouseOfFile();

/** A person of a test, and the row of an export with this person. */
function known(contactId: string, values: Partial<Person> = {}): { row: StagedRow; person: Person } {
  const email = `${contactId}@undo.example`;
  const row = { contactId, email, firstName: 'Ada', lastName: `Of ${contactId}` };
  return { row, person: personOf(row, { id: `id-${contactId}`, ...values }) };
}

type Known = ReturnType<typeof known>;

/** A run that has requested all people of its export, has these answers, and has ended. */
function endedRun(people: readonly Known[]): Promise<string> {
  const [rows, answer] = [people.map(({ row }) => row), people.map(({ person }) => person)];
  return playRun(warehouse, rows, answer, { freshness: neverFresh });
}

/** A run that has ended without a call, because its people are fresh. */
async function freshRun(people: readonly Known[], source?: string): Promise<string> {
  const rows = people.map(({ row }) => row);
  const runId = await runningRunOf(warehouse, rows, { ...(source !== undefined && { source }) });
  await endPlayedRun(warehouse, runId);
  return runId;
}

const contents = () => readComputedTables(warehouse);
const contact = (contactId: string) => readContact(warehouse, contactId);
const undo = (runId: string) => undoRun(warehouse, runId, testNote, noSignal);

it('undoRun() removes contacts that only the undone run has, and revertUndo() restores them', async () => {
  const call = await endedWithPhones(warehouse);
  const before = await contents();
  expect(await measureUndo(warehouse, call.runId)).toEqual({ removed: 3, restored: 0 });
  expect(await undo(call.runId)).toMatchObject({ complete: true });
  expect(await warehouse.query`select 1 from enriched_contacts where run_id = ${call.runId}`).toEqual([]);
  await revertUndo(warehouse, call.runId, noSignal);
  expect(await contents()).toEqual(before);
});

it('undoRun() keeps a contact until all runs of the contact are undone', async () => {
  const first = await endedRun([known('order', { title: 'CTO' })]);
  const second = await endedRun([known('order', { title: 'CEO' })]);
  const both = await contents();
  expect(await measureUndo(warehouse, first)).toEqual({ removed: 0, restored: 1 });
  const repeated = await freshRun([known('order', { title: 'CEO' })]);
  await undo(first);
  expect(await contact('order')).toMatchObject({ title: 'CEO' });
  await undo(second);
  expect(await contact('order')).toMatchObject({ title: 'CEO' });
  await undo(repeated);
  expect(await contact('order')).toBeUndefined();
  await revertUndo(warehouse, first, noSignal);
  await revertUndo(warehouse, second, noSignal);
  expect(await contents()).toEqual(both);
});

it('reverting undone runs in any order returns a contact filled without a call to its first run', async () => {
  const asking = known('asking');
  const filled = { ...asking, row: { ...asking.row, contactId: 'filled' } };
  const first = await endedRun([asking, filled]);
  const second = await freshRun([asking, filled]);
  expect(await contact('filled')).toMatchObject({ run_id: first, row_number: 2 });
  const before = await contents();
  for (const runId of [first, second]) await undo(runId);
  for (const runId of [second, first]) await revertUndo(warehouse, runId, noSignal);
  expect(await contents()).toEqual(before);
});

it('revertUndo() restores a contact although the run that first had its unchanged record stays undone', async () => {
  const first = await endedRun([known('same')]);
  const second = await endedRun([known('same')]);
  for (const runId of [second, first]) await undo(runId);
  expect(await contact('same')).toBeUndefined();
  await revertUndo(warehouse, second, noSignal);
  expect(await contact('same')).toMatchObject({ person_id: 'id-same', run_id: second });
});

it('measureUndo() counts no export of an earlier run that was declined', async () => {
  const declined = await plannedRun(warehouse, [known('declined').row]);
  await finishRun(warehouse, declined, 'cancelled', undefined);
  const runId = await endedRun([known('declined')]);
  expect(await measureUndo(warehouse, runId)).toEqual({ removed: 1, restored: 0 });
  await undo(runId);
  expect(await contact('declined')).toBeUndefined();
});

it('after an undo, a run of the same export under another source gets the people without a call', async () => {
  const wrong = await endedRun([known('moved')]);
  await undo(wrong);
  const right = await freshRun([known('moved')], 'right');
  expect(await outcomesOf(warehouse, right)).toEqual(['fresh']);
  expect(await contact('moved')).toMatchObject({ source: 'right', person_id: 'id-moved' });
});

it('an undo that was interrupted after its first step is completed by the next run', async () => {
  const runId = await endedRun(Array.from({ length: 10 }, (_, n) => known(`many-${n}`)));
  expect(await undoRun(warehouse, runId, testNote, AbortSignal.abort())).toMatchObject({ complete: false });
  await endedRun([known('somebody-else')]);
  expect(await contact('many-9')).toBeUndefined();
});

it('undoRun() keeps the first reason when two users undo the run at once', async () => {
  const runId = await endedRun([known('twice')]);
  await Promise.all([undo(runId), undoRun(warehouse, runId, { by: 'another', reason: undefined }, noSignal)]);
  const { undone } = await getRun(warehouse, runId);
  await undo(runId);
  expect(await getRun(warehouse, runId)).toMatchObject({ undone });
  expect(await contact('twice')).toBeUndefined();
});

it('undoRun() refuses a run that has not ended', async () => {
  const { runId } = await stagedRun(warehouse, []);
  await expect(undo(runId)).rejects.toThrow('has not ended');
});

it('a late result of an undone run is settled, and reaches the contacts only after a revert', async () => {
  const call = await answeredCall(warehouse);
  await endPlayedRun(warehouse, call.runId);
  await undo(call.runId);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  expect(await warehouse.query`select 1 from enriched_contacts where run_id = ${call.runId}`).toEqual([]);
  expect((await readRunFacts(warehouse, call.runId)).credits.settled).toBe('27');
  await revertUndo(warehouse, call.runId, noSignal);
  const rows = await warehouse.query`
    select count(phone)::int as phones from enriched_contacts where run_id = ${call.runId}`;
  expect(rows).toEqual([{ phones: 3 }]);
});

it('discardAnswers() removes the answers of an undone run, so that the next run requests the people', async () => {
  const call = await endedWithPhones(warehouse);
  await expect(discardAnswers(warehouse, call.runId, noSignal)).rejects.toThrow('is not undone');
  await undo(call.runId);
  const people = call.people.map(({ identity: { email } }) => ({ email: email! }));
  expect(await plannedOutcomes(warehouse, people)).toEqual(['fresh', 'fresh', 'fresh']);
  const discarded = await discardAnswers(warehouse, call.runId, noSignal);
  expect(discarded.observations).toBe(6);
  expect(discarded.lookupKeys).toBeGreaterThan(0);
  const gone = await warehouse.query`
    select 1 from observations where run_id = ${call.runId}
    union all select 1 from people where run_id = ${call.runId}`;
  expect(gone).toEqual([]);
  expect(await plannedOutcomes(warehouse, people)).toEqual([null, null, null]);
  await expect(revertUndo(warehouse, call.runId, noSignal)).rejects.toThrow('answers were discarded');
});

it('reverting an undo does not restore an erased person', async () => {
  const call = await endedWithPhones(warehouse);
  await undo(call.runId);
  await erase(warehouse, [`email:${call.people[0]!.identity.email}`], testNote);
  await revertUndo(warehouse, call.runId, noSignal);
  expect(await readAllTablesAsText(warehouse)).not.toContain(call.ids[0]);
  const rows = await warehouse.query`select 1 from enriched_contacts where run_id = ${call.runId}`;
  expect(rows).toHaveLength(2);
});

it('reverting an undo does not assign a person who was suppressed since then', async () => {
  const listed = known('listed');
  const first = await endedRun([listed]);
  await addToSuppressionList(warehouse, `email:${listed.person.email}`);
  const later = await runningRunOf(warehouse, [listed.row]);
  expect(await outcomesOf(warehouse, later)).toEqual(['suppressed']);
  await endPlayedRun(warehouse, later);
  expect(await contact('listed')).toMatchObject({ person_id: 'id-listed' });
  await undo(first);
  await revertUndo(warehouse, first, noSignal);
  expect(await contact('listed')).toBeUndefined();
});
