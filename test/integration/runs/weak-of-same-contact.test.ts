import { expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { endRun } from '../../../src/runs/end-run.ts';
import { countFillable } from '../../../src/runs/reconciliation/count-fillable.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();
const { signal } = new AbortController();

/** A row with an address that no answer has. */
function row(contactId: string, name: string, employer = 'Orbit', domain = 'private.example'): StagedRow {
  const [firstName = '', lastName = ''] = name.split(' ');
  const email = `${firstName}.${lastName}@${domain}`.toLowerCase();
  const cells = { firstName, lastName, organizationName: employer, email };
  return { ...cells, keys: identityKeys(cells), contactId };
}

function personOf(name: string, id: string | null = `id-${name}`): Person {
  const [first_name = '', last_name = ''] = name.split(' ');
  return { id, first_name, last_name, email: null, organization: { name: 'Orbit' } };
}

/** Ends a run. @param people whom its call finds; undefined: the run makes no call */
async function runOf(source: string, rows: readonly StagedRow[], people?: readonly (Person | null)[]) {
  const runId = await runningRunOf(warehouse, rows, { source });
  const fillable = await countFillable(warehouse.database, { runId, source, service: 'test' });
  if (people) await answerBatch(warehouse, { runId }, () => people);
  await reconcileContacts(warehouse, runId, signal);
  await endRun(warehouse, runId, 'finished', undefined);
  return { runId, fillable };
}

async function personsOf(contactId: string): Promise<readonly string[]> {
  const rows = await warehouse.query<{ person_id: string }>`
    select source, person_id from enriched_contacts where contact_id = ${contactId} order by source`;
  return rows.map(({ person_id: id }) => id);
}

const undo = (runId: string): Promise<unknown> =>
  undoRun(warehouse, runId, { by: 'somebody', reason: undefined }, signal);

it('a duplicate gets the person whom name and employer gave the row with the same address', async () => {
  const name = 'Ada Novak';
  const { runId, fillable } = await runOf('file', [row('ada-1', name), row('ada-2', name)], [personOf(name)]);
  expect(fillable).toBe(1);
  expect(await outcomesOf(warehouse, runId)).toEqual(['enriched', 'duplicate']);
  expect(await personsOf('ada-1')).toEqual([`id-${name}`]);
  expect(await personsOf('ada-2')).toEqual([`id-${name}`]);
});

it('a fresh contact of another CRM gets the person of the contact with the same address', async () => {
  const name = 'Bea Quist';
  const first = await runOf('one', [row('bea', name)], [personOf(name)]);
  const second = await runOf('two', [row('bea', name)]);
  expect(second.fillable).toBe(1);
  expect(await outcomesOf(warehouse, second.runId)).toEqual(['fresh']);
  expect(await personsOf('bea')).toEqual([`id-${name}`, `id-${name}`]);
  await undo(second.runId);
  expect(await personsOf('bea')).toEqual([`id-${name}`]);
  await revertUndo(warehouse, second.runId, signal);
  expect(await personsOf('bea')).toEqual([`id-${name}`, `id-${name}`]);
  await undo(first.runId);
  expect(await personsOf('bea')).toEqual([]);
  await revertUndo(warehouse, first.runId, signal);
  expect(await personsOf('bea')).toEqual([`id-${name}`, `id-${name}`]);
});

it('a contact of an ended run gets the person whom a later run finds for a contact with its address', async () => {
  const name = 'Fay Moss';
  const runId = await runningRunOf(warehouse, [row('fay-1', name)], { source: 'one' });
  await warehouse.query`update run_rows set outcome = 'in_flight' where run_id = ${runId}`;
  await endRun(warehouse, runId, 'finished', undefined);
  const later = await runOf('two', [row('fay-2', name)], [personOf(name)]);
  expect(await personsOf('fay-2')).toEqual([`id-${name}`]);
  expect(await personsOf('fay-1')).toEqual([`id-${name}`]);
  await undo(later.runId);
  expect(await personsOf('fay-1')).toEqual([]);
  await revertUndo(warehouse, later.runId, signal);
  expect(await personsOf('fay-1')).toEqual([`id-${name}`]);
});

it.each([
  ['another employer', (name: string) => row('other', name, 'Globex')],
  ['another name', () => ({ ...row('other', 'Cora Lund'), email: 'cleo.lund@private.example' })],
])('a contact with the same address and %s does not get the person', async (kind, other) => {
  const name = kind === 'another employer' ? 'Cleo Lind' : 'Cleo Lund';
  await runOf('one', [row(kind, name)], [personOf(name)]);
  const { keys: _, ...cells } = other(name);
  await runOf(`two ${kind}`, [{ ...cells, keys: identityKeys(cells) }]);
  expect(await personsOf('other')).toEqual([]);
  expect(await personsOf(kind)).toEqual([`id-${name}`]);
});

it('a contact with the same address does not get a person without an id', async () => {
  const name = 'Dora Falk';
  await runOf('one', [row('dora', name)], [personOf(name, null)]);
  await runOf('two', [row('dora-2', name)]);
  expect(await personsOf('dora-2')).toEqual([]);
});

it('a rival takes the person from both contacts with the same address', async () => {
  const name = 'Eva Holm';
  await runOf('one', [row('eva', name), row('eva-2', name)], [personOf(name)]);
  expect(await personsOf('eva-2')).toEqual([`id-${name}`]);
  await runOf('two', [row('rival', name, 'Orbit', 'else.example')], [null]);
  expect(await personsOf('eva')).toEqual([]);
  expect(await personsOf('eva-2')).toEqual([]);
});

it('an undo of the run of a rival gives the person to both contacts with the same address', async () => {
  const name = 'Ivo Holm';
  const rival = await runOf('two', [row('rival of Ivo', name, 'Orbit', 'else.example')], [null]);
  await runOf('one', [row('ivo', name), row('ivo-2', name)], [personOf(name)]);
  expect(await personsOf('ivo')).toEqual([]);
  await undo(rival.runId);
  expect(await personsOf('ivo')).toEqual([`id-${name}`]);
  expect(await personsOf('ivo-2')).toEqual([`id-${name}`]);
  await revertUndo(warehouse, rival.runId, signal);
  expect(await personsOf('ivo')).toEqual([]);
  expect(await personsOf('ivo-2')).toEqual([]);
});

it('a rival that becomes another person leaves the person to both contacts with the same address', async () => {
  const name = 'Jo Lind';
  const rival = row('rival of Jo', name, 'Orbit', 'else.example');
  await runOf('two', [rival], [null]);
  await runOf('one', [row('jo', name), row('jo-2', name)], [personOf(name)]);
  expect(await personsOf('jo')).toEqual([]);
  await runOf('two', [row('rival of Jo', 'Zoe Other', 'Globex', 'else.example')], [null]);
  expect(await personsOf('jo')).toEqual([`id-${name}`]);
  expect(await personsOf('jo-2')).toEqual([`id-${name}`]);
});
