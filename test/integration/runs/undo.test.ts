import { describe, expect, it } from 'vitest';
import { countLookups } from '../../../src/people/known/lookup-history.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { discardAnswers } from '../../../src/privacy/discard-answers.ts';
import { measureUndo, revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { appendContact } from '../../helpers/warehouse/append-contact.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { endedWithPhones } from '../../helpers/warehouse/delivered-calls.ts';
import { everything } from '../../helpers/database/everything.ts';
import { deliverTo, phonesBody } from '../../helpers/warehouse/late-calls.ts';
import { putOnList } from '../../helpers/warehouse/put-on-list.ts';
import { asked, outcomesOf, stagedRun } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { endedCall } from '../../helpers/warehouse/ended-calls.ts';

const note = { by: 'somebody', reason: 'the wrong file' };
const noSignal = new AbortController().signal;
const warehouse = await warehouseOfFile();
let clock = Date.parse('2026-11-21T08:00:00Z');

type Given = readonly [contactId: string, person: Person, ...phones: string[]];

/** A run that has ended and appended these contacts. */
async function runThatWrote(...contacts: readonly Given[]): Promise<string> {
  const { runId } = await stagedRun(
    warehouse,
    contacts.map(([contactId]) => ({ keys: [`person:${contactId}`], contactId, outcome: 'enriched' })),
  );
  clock += 60_000;
  const askedAt = new Date(clock).toISOString();
  for (const [index, [contactId, person, ...phones]] of contacts.entries())
    await appendContact(warehouse, {
      contactId,
      runId,
      rowNumber: index + 1,
      askedAt,
      person,
      ...(phones.length > 0 && { phones }),
    });
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

/** Everything that is computed from the log. */
async function contents(): Promise<unknown> {
  const tables = [
    'enriched_contacts',
    'people',
    'organizations',
    'contacts',
    'person_phones',
    'person_emails',
  ];
  const rows = await Promise.all(
    tables.map((table) => warehouse.pool.query<object>(`select t.* from ${table} t order by t::text`)),
  );
  return rows.map((result) => result.rows);
}

async function contact(contactId: string): Promise<Record<string, unknown> | undefined> {
  const rows = await warehouse.query<Record<string, unknown>>`
    select * from enriched_contacts where contact_id = ${contactId}`;
  return rows[0];
}

const undo = (runId: string) => undoRun(warehouse, runId, note, noSignal);

describe('undoRun()', () => {
  it('undoRun() removes contacts that only the run knows, with their phones', async () => {
    const before = await contents();
    const call = await endedWithPhones(warehouse);
    expect(await measureUndo(warehouse, call.runId)).toEqual({
      removed: 3,
      restored: 0,
      only_emails: 0,
      only_phones: 0,
    });
    expect(await undo(call.runId)).toEqual({ complete: true });
    expect(await contents()).toEqual(before);
  });

  it('measureUndo() counts contacts whose email or phones only the run knows, also for a revert', async () => {
    const ada = { id: 'only-ada', first_name: 'Ada', last_name: 'Lee' };
    const withEmail = { ...ada, email: 'ada@only.example' };
    await runThatWrote(['only', ada]);
    const third = await runThatWrote(
      ['only', withEmail, '+14155550133'],
      ['gone', { id: 'gone' }, '+14155550134'],
    );
    const both = { removed: 1, restored: 1, only_emails: 1, only_phones: 1 };
    expect(await measureUndo(warehouse, third)).toEqual(both);
    await undo(third);
    expect(await contact('only')).toMatchObject({ email: null, phone: null });
    expect(await measureUndo(warehouse, third)).toEqual(both);
    await revertUndo(warehouse, third, noSignal);
    await runThatWrote(['only', withEmail, '+14155550133']);
    expect(await measureUndo(warehouse, third)).toEqual({ ...both, only_emails: 0, only_phones: 0 });
  });

  it('undoRun() restores contacts of other runs, in any order of undone runs', async () => {
    const ada = { id: 'order-ada', first_name: 'Ada', last_name: 'Lee' };
    const first = await runThatWrote(['order', { ...ada, title: 'CTO' }, '+14155550111']);
    const firstAlone = await contents();
    const second = await runThatWrote(['order', { ...ada, title: 'CEO', city: 'Graz' }, '+14155550122']);
    expect(await contact('order')).toMatchObject({ title: 'CEO', city: 'Graz', phone: '+14155550122' });
    const both = await contents();
    expect(await measureUndo(warehouse, second)).toMatchObject({ removed: 0, restored: 1 });
    await undo(second);
    expect(await contents()).toEqual(firstAlone);
    await revertUndo(warehouse, second, noSignal);
    expect(await contents()).toEqual(both);
    await undo(first);
    expect(await contact('order')).toMatchObject({ title: 'CEO', city: 'Graz', phone: '+14155550122' });
    await undo(second);
    expect(await contact('order')).toBeUndefined();
  });

  it('undoRun() completes after an interruption between two batches', async () => {
    const contacts = Array.from({ length: 600 }, (_, n): Given => [`many-${n}`, { id: `many-${n}` }]);
    const runId = await runThatWrote(...contacts);
    const stop = new AbortController();
    expect(await undoRun(warehouse, runId, note, stop.signal, () => stop.abort())).toEqual({
      complete: false,
    });
    expect(await getRun(warehouse, runId)).toMatchObject({ undoUnfinished: true });
    expect(await undo(runId)).toEqual({ complete: true });
    expect(await getRun(warehouse, runId)).toMatchObject({ undoUnfinished: false, undone: note });
    expect(await contact('many-599')).toBeUndefined();
  });

  it('undoRun() undoes a run once when two undo it at once', async () => {
    const runId = await runThatWrote(['twice', { id: 'twice', title: 'CTO' }]);
    await Promise.all([
      undo(runId),
      undoRun(warehouse, runId, { by: 'another', reason: undefined }, noSignal),
    ]);
    const { undone } = await getRun(warehouse, runId);
    await undo(runId);
    expect(await getRun(warehouse, runId)).toMatchObject({ undone, undoUnfinished: false });
    expect(await contact('twice')).toBeUndefined();
  });

  it('undoRun() begins only after the undo of another run has ended', async () => {
    const runs = [
      await runThatWrote(['apart-1', { id: 'apart-1' }]),
      await runThatWrote(['apart-2', { id: 'apart-2' }]),
    ];
    const order: string[] = [];
    await Promise.all(
      runs.map((runId) => undoRun(warehouse, runId, note, noSignal, () => void order.push(runId))),
    );
    expect([...new Set(order)]).toHaveLength(2);
    expect(order).toEqual(order.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
  });

  it('undoRun() keeps outcomes, calls and credits', async () => {
    const call = await endedWithPhones(warehouse);
    const before = await readRunFacts(warehouse, call.runId);
    await undo(call.runId);
    const after = await readRunFacts(warehouse, call.runId);
    expect(after).toEqual({ ...before, undone: { at: expect.any(String), ...note } });
    expect(after.credits.settled).toBe('27');
  });

  it('undoRun() refuses a run that has not ended', async () => {
    const { runId } = await stagedRun(warehouse, []);
    await expect(undo(runId)).rejects.toThrow('has not ended');
  });
});

it('a late result of an undone run is settled, changes no contact, and counts after a revert', async () => {
  const call = await endedCall(warehouse);
  await undo(call.runId);
  const before = await contents();
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  expect(await contents()).toEqual(before);
  expect((await readRunFacts(warehouse, call.runId)).credits.settled).toBe('27');
  await revertUndo(warehouse, call.runId, noSignal);
  const rows = await warehouse.query`
    select count(phone)::int as phones from enriched_contacts where run_id = ${call.runId}`;
  expect(rows).toEqual([{ phones: 3 }]);
});

describe('people of an undone run', () => {
  it('people of an undone run stay in the lookup history until their answers are discarded', async () => {
    const call = await endedWithPhones(warehouse);
    await undo(call.runId);
    const people = call.people.map(({ identity }) => ({ keys: [`email:${identity.email}`] }));
    const again = await stagedRun(warehouse, people);
    await planRows(warehouse, again.runId, asked);
    expect(await outcomesOf(warehouse, again.runId)).toEqual(['fresh', 'fresh', 'fresh']);
    expect(await countLookups(warehouse.database, call.runId)).toBeGreaterThan(0);
    await revertUndo(warehouse, call.runId, noSignal);
    await expect(discardAnswers(warehouse, call.runId)).rejects.toThrow('is not undone');
    await undo(call.runId);
    expect(await discardAnswers(warehouse, call.runId)).toMatchObject({ observations: 6 });
    expect(await warehouse.query`select 1 from observations where run_id = ${call.runId}`).toEqual([]);
    const third = await stagedRun(warehouse, people);
    await planRows(warehouse, third.runId, asked);
    expect(await outcomesOf(warehouse, third.runId)).toEqual([null, null, null]);
  });

  it('a revert of an undo does not restore an erased person', async () => {
    const call = await endedWithPhones(warehouse);
    await undo(call.runId);
    await erase(warehouse, [`email:${call.people[0]!.identity.email}`], note);
    await revertUndo(warehouse, call.runId, noSignal);
    expect(await everything(warehouse)).not.toContain(call.ids[0]);
    const rows = await warehouse.query`select 1 from enriched_contacts where run_id = ${call.runId}`;
    expect(rows).toHaveLength(2);
  });
});

describe('the newest row of a record', () => {
  const ada = { id: 'record-ada', first_name: 'Ada', last_name: 'Novak', email: 'ada@record.example' };

  /** Runs an export with one row: the record is this person, under this address. */
  async function runOf(contactId: string, person: Person, email: string, isFound: boolean): Promise<string> {
    const row = { email, firstName: person.first_name!, lastName: person.last_name! };
    const runId = await runningRunOf(warehouse, [{ ...row, keys: [`email:${email}`], contactId }], {
      freshness: { enrichedSeconds: 0, notFoundSeconds: 0 },
    });
    await reconcileContacts(warehouse, runId, noSignal);
    await answerBatch(warehouse, { runId }, () => [isFound ? person : null]);
    await reconcileContacts(warehouse, runId, noSignal);
    await endRun(warehouse, runId, 'finished', undefined);
    return runId;
  }

  it('the newest row of a record leaves a suppressed person to the record after an undo and its revert', async () => {
    const person = { ...ada, id: 'record-listed', email: 'listed@record.example' };
    const first = await runOf('listed', person, person.email, true);
    await putOnList(warehouse, `email:${person.email}`);
    const row = { email: person.email, firstName: 'Ada', lastName: 'Novak', contactId: 'listed' };
    const later = await runningRunOf(warehouse, [{ ...row, keys: [`email:${person.email}`] }]);
    expect(await outcomesOf(warehouse, later)).toEqual(['suppressed']);
    await reconcileContacts(warehouse, later, noSignal);
    await endRun(warehouse, later, 'finished', undefined);
    const before = await contact('listed');
    expect(before).toMatchObject({ person_id: 'record-listed' });
    await undo(first);
    await revertUndo(warehouse, first, noSignal);
    expect(await contact('listed')).toEqual(before);
  });
});
