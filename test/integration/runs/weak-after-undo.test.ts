import { expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { countFillable, reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const { signal } = new AbortController();

function row(record: string, name: string, employer = 'Orbit', email?: string): StagedRow {
  const [firstName = '', lastName = ''] = name.split(' ');
  const cells = { firstName, lastName, organizationName: employer, ...(email !== undefined && { email }) };
  return { ...cells, keys: identityKeys(cells), contactId: record };
}

function personOf(name: string, id = `id-${name}`): Person {
  const [first_name = '', last_name = ''] = name.split(' ');
  return { id, first_name, last_name, organization: { name: 'Orbit' } };
}

/** Ends a run. @param people whom its call finds; undefined: the run makes no call */
async function runOf(source: string, rows: readonly StagedRow[], people?: readonly (Person | null)[]) {
  const runId = await runningRunOf(warehouse, rows, { source });
  if (people) await answerBatch(warehouse, { runId }, () => people);
  await reconcileContacts(warehouse, runId, signal);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

async function plannedRun(source: string, contact: StagedRow) {
  return { runId: await runningRunOf(warehouse, [contact], { source }), source, service: 'test' };
}

const undo = (runId: string): Promise<unknown> =>
  undoRun(warehouse, runId, { by: 'somebody', reason: undefined }, signal);

async function personsOf(source: string, contactId: string): Promise<readonly string[]> {
  const rows = await warehouse.query<{ person_id: string }>`
    select person_id from enriched_contacts where source = ${source} and contact_id = ${contactId}`;
  return rows.map(({ person_id: id }) => id);
}

async function reasonOf(runId: string): Promise<string> {
  const rows = await warehouse.query<{ reason: string }>`
    select reason from run_rows where run_id = ${runId} and row_number = 1`;
  return rows[0]!.reason;
}

it.each([
  ['without an address', undefined],
  ['with another address than the person', 'ada@private.example'],
])(
  'a run under the right source fills a contact %s whom the undone run found by name and employer',
  async (kind, email) => {
    const name = email === undefined ? 'Ada Novak' : 'Bea Quist';
    const contact = row(kind, name, 'Orbit', email);
    const wrong = await runOf('wrong', [contact], [personOf(name)]);
    expect(await personsOf('wrong', kind)).toEqual([`id-${name}`]);
    await undo(wrong);
    expect(await countFillable(warehouse.database, await plannedRun('right', contact))).toBe(1);
    const right = await runOf('right', [contact]);
    expect(await outcomesOf(warehouse, right)).toEqual(['fresh']);
    expect(await personsOf('right', kind)).toEqual([`id-${name}`]);
    expect(await personsOf('wrong', kind)).toEqual([]);
    expect(await reasonOf(right)).toMatch(/; filled without a call$/);
    await reconcileContacts(warehouse, right, signal);
    expect(await personsOf('right', kind)).toEqual([`id-${name}`]);
    await undo(right);
    expect(await personsOf('right', kind)).toEqual([]);
    await revertUndo(warehouse, right, signal);
    expect(await personsOf('right', kind)).toEqual([`id-${name}`]);
  },
);

it.each([
  ['another record id', 'Cleo Lund', row('other-id', 'Cleo Lund')],
  ['another employer cell', 'Cora Lund', row('Cora Lund', 'Cora Lund', 'Orbit Ltd')],
])('a run fills no contact with %s than the row of the undone run had', async (_, name, contact) => {
  const wrong = await runOf('wrong', [row(name, name)], [personOf(name)]);
  await undo(wrong);
  const right = await runOf('right', [contact]);
  expect(await outcomesOf(warehouse, right)).toEqual(['fresh']);
  expect(await personsOf('right', contact.contactId!)).toEqual([]);
});

it('a run fills no contact whose person of an undone run has a rival now, and says so', async () => {
  const wrong = await runOf('wrong', [row('dora', 'Dora Falk')], [personOf('Dora Falk')]);
  await undo(wrong);
  const rival = row('rival', 'Dora Falk', 'Orbit', 'dora@orbit.example');
  await runOf('elsewhere', [rival], [{ ...personOf('Dora Falk', 'rival'), email: 'dora@orbit.example' }]);
  const right = await runOf('right', [row('dora', 'Dora Falk')]);
  expect(await personsOf('right', 'dora')).toEqual([]);
  expect(await reasonOf(right)).toMatch(/; not filled: /);
});

it('a run fills no contact that lost the person in the undone run to a rival', async () => {
  const both = [
    row('eva-1', 'Eva Holm', 'Orbit', 'e1@x.example'),
    row('eva-2', 'Eva Holm', 'Orbit', 'e2@y.example'),
  ];
  const wrong = await runOf('wrong', both, [personOf('Eva Holm', 'eva'), null]);
  expect(await personsOf('wrong', 'eva-1')).toEqual([]);
  await undo(wrong);
  await runOf('right', both);
  expect(await personsOf('right', 'eva-1')).toEqual([]);
  expect(await personsOf('right', 'eva-2')).toEqual([]);
});
