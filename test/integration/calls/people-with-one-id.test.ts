import { expect, it } from 'vitest';
import { keyOfId } from '../../../src/people/observation.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerWith } from '../../helpers/warehouse/answer-with.ts';
import { callsByHand, somebody, type AdmittedCall } from '../../helpers/warehouse/calls-by-hand.ts';
import type { StagedRow } from '../../helpers/warehouse/rows.ts';

const { signal } = new AbortController();
const undoNote = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile();
const { callInFlight, record } = callsByHand(warehouse);

/** Two people of one id, each alone in a call unless they share one. */
function ofOneId(): readonly [ReturnType<typeof somebody>, ReturnType<typeof somebody>] {
  const [one, two] = [somebody(), somebody()];
  Object.assign(two.row, { firstName: 'Other', lastName: `Two${two.person.id}` });
  return [one, { ...two, person: { ...two.person, id: one.person.id, ...named(two.row) } }];
}

const named = ({ firstName, lastName }: StagedRow) => ({ first_name: firstName, last_name: lastName });

const ownData = (people: ReturnType<typeof ofOneId>) =>
  people.map(({ row }) => ({ contact_id: row.contactId, ...named(row), email: row.email }));

async function dataOf(people: ReturnType<typeof ofOneId>): Promise<unknown[]> {
  const { rows } = await warehouse.pool.query(
    `select contact_id, first_name, last_name, email from enriched_contacts
     where contact_id = any($1) order by length(contact_id), contact_id`,
    [people.map(({ row }) => row.contactId)],
  );
  return rows;
}

it('two people with one id in one answer each get their own data', async () => {
  const people = ofOneId();
  const call = await callInFlight(people.map(({ row }) => row));
  await record(call, answerWith(people.map(({ person }) => person)));
  expect(await dataOf(people)).toEqual(ownData(people));
});

it.each([false, true])(
  'two people with one id in two answers each get their own data (the first run is undone: %s)',
  async (isUndone) => {
    const people = ofOneId();
    for (const { row, person } of people) {
      const call = await callInFlight([row]);
      await record(call, answerWith([person]));
      await endRun(warehouse, call.runId, 'finished', undefined);
      if (isUndone && row === people[0].row) await undoRun(warehouse, call.runId, undoNote, signal);
    }
    const [{ runId }] = (await warehouse.query<{ runId: string }>`
        select run_id as "runId" from run_rows where contact_id = ${people[0].row.contactId}`) as [
      { runId: string },
    ];
    if (isUndone) await revertUndo(warehouse, runId, signal);
    expect(await dataOf(people)).toEqual(ownData(people));
  },
);

it('two people with one id each get their own data after an answer without a name', async () => {
  const people = ofOneId();
  const [{ row, person }, two] = people;
  for (const [requested, found] of [
    [row, person],
    [somebody().row, { id: person.id!, email: row.email! }],
    [two.row, two.person],
  ] as const)
    await record(await callInFlight([requested]), answerWith([found]));
  expect(await dataOf(people)).toEqual(ownData(people));
});

it('two people with one id in two answers at once each get their own data', async () => {
  const people = ofOneId();
  const calls: AdmittedCall[] = [];
  for (const { row } of people) calls.push(await callInFlight([row]));
  const holder = await warehouse.pool.connect();
  await holder.query('begin');
  await holder.query("select lock_log('test', $1, '{}', '{}')", [[keyOfId(people[0].person.id!)]]);
  const recordings = people.map(({ person }, index) => record(calls[index]!, answerWith([person])));
  const waiting = async () =>
    (await warehouse.pool.query("select from pg_locks where locktype = 'advisory' and not granted")).rowCount;
  await expect.poll(waiting).toBe(2);
  await holder.query('rollback');
  holder.release();
  await Promise.all(recordings);
  expect(await dataOf(people)).toEqual(ownData(people));
});

it('a person who changes the last name keeps the id', async () => {
  const [before, after] = [somebody(), somebody()];
  const married = { ...after.person, id: before.person.id!, last_name: 'Married' };
  for (const [{ row }, person] of [
    [before, before.person],
    [after, married],
  ] as const) {
    const call = await callInFlight([{ ...row, lastName: person.last_name! }]);
    await record(call, answerWith([person]));
  }
  const { rows } = await warehouse.pool.query(
    'select last_name from enriched_contacts where contact_id = any($1)',
    [[before.row.contactId, after.row.contactId]],
  );
  expect(rows).toEqual([{ last_name: 'Married' }, { last_name: 'Married' }]);
});
