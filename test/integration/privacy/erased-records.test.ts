import { expect, it } from 'vitest';
import { erase } from '../../../src/privacy/erase.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const note = { by: 'somebody', reason: undefined };

function row(record: string, name: string, host = 'orbit.example'): StagedRow {
  const [firstName = '', lastName = ''] = name.split(' ');
  const email = `${name.replace(' ', '.').toLowerCase()}.${record}@${host}`;
  return { keys: [`email:${email}`], email, firstName, lastName, contactId: record };
}

const exportOf = (...rows: readonly StagedRow[]): Promise<string> =>
  runningRunOf(warehouse, rows, { source: 'hubspot' });

const eraseRow = ({ keys }: StagedRow): Promise<unknown> => erase(warehouse, keys, note);

/** The outcome of a row in a new export. */
async function outcomeOf(again: StagedRow): Promise<string | null> {
  return (await outcomesOf(warehouse, await exportOf(again)))[0]!;
}

it.each(['undone_at = now()', `status = 'failed'`])(
  'an erasure leaves the record id of another person whom only a run with %s took for the erased one',
  async (assignment) => {
    const record = `wrong-${assignment.length}`;
    await exportOf(row(record, 'Ada Novak'));
    const wrong = await exportOf(row(record, 'Bob Quist'));
    await warehouse.pool.query(`update runs set ${assignment} where run_id = $1`, [wrong]);
    await eraseRow(row(record, 'Bob Quist'));
    expect(await outcomeOf(row(record, 'Ada Novak', 'fjord.example'))).toBeNull();
    expect(await outcomeOf(row(record, 'Bob Quist', 'fjord.example'))).toBe('suppressed');
  },
);

it('an erasure leaves the record id of a person who has the record now', async () => {
  await exportOf(row('reused', 'Ada Novak'));
  await exportOf(row('reused', 'Bob Quist'));
  await eraseRow(row('reused', 'Ada Novak'));
  expect(await outcomeOf(row('reused', 'Bob Quist', 'fjord.example'))).toBeNull();
  expect(await outcomeOf(row('reused', 'Ada Novak', 'fjord.example'))).toBe('suppressed');
});

it('an erasure lists no record id that the newest export gives to two people', async () => {
  await exportOf(row('double', 'Ada Novak'), row('double', 'Bob Quist'));
  await eraseRow(row('double', 'Ada Novak'));
  expect(await outcomeOf(row('double', 'Bob Quist', 'fjord.example'))).toBeNull();
});

it('an erasure lists the record id of a person whose address or last name differs in the newest export', async () => {
  for (const [record, name] of [
    ['moved', 'Ada Novak'],
    ['married', 'Ada Brandt'],
  ] as const) {
    await exportOf(row(record, 'Ada Novak'));
    await exportOf(row(record, name, 'fjord.example'));
    await eraseRow(row(record, 'Ada Novak'));
    expect(await outcomeOf(row(record, 'Zoe Lind'))).toBe('suppressed');
  }
});

it('an erasure lists the record id if the cells of the newest export were removed', async () => {
  await exportOf(row('pruned', 'Ada Novak'));
  const later = await exportOf(row('pruned', 'Ada Novak', 'fjord.example'));
  await warehouse.query`
    update run_rows set keys = '{}', email = null, first_name = null, last_name = null
    where run_id = ${later}`;
  await eraseRow(row('pruned', 'Ada Novak'));
  expect(await outcomeOf(row('pruned', 'Zoe Lind'))).toBe('suppressed');
});

it('an erasure leaves only deletions of the erased contacts in the change feed', async () => {
  const feedOf = async (contactId: string): Promise<string[]> => {
    const rows = await warehouse.query<{ operation: string }>`
      select operation from changes where contact_id = ${contactId} order by change_id`;
    return rows.map(({ operation }) => operation);
  };
  for (const [record, name] of [
    ['of-feed', 'Eva Lund'],
    ['beside', 'Finn Lund'],
  ] as const) {
    const runId = await exportOf(row(record, name));
    const [first_name = '', last_name = ''] = name.split(' ');
    const person = { id: `id-${record}`, first_name, last_name, email: row(record, name).email! };
    await answerBatch(warehouse, { runId }, () => [person]);
  }
  expect(await feedOf('of-feed')).toEqual(['upsert']);
  await eraseRow(row('of-feed', 'Eva Lund'));
  expect(await feedOf('of-feed')).toEqual(['delete']);
  expect(await feedOf('beside')).toEqual(['upsert']);
});

it('an erasure leaves the changes of a contact that is another person now', async () => {
  for (const name of ['Gro Lund', 'Hal Quist']) {
    const runId = await exportOf(row('passed-on', name));
    const [first_name = '', last_name = ''] = name.split(' ');
    await answerBatch(warehouse, { runId }, () => [
      { id: `id-${first_name}`, first_name, last_name, email: row('passed-on', name).email! },
    ]);
  }
  const feed = async (): Promise<object[]> =>
    await warehouse.query<object>`select * from changes where contact_id = 'passed-on'`;
  const before = await feed();
  await eraseRow(row('passed-on', 'Gro Lund'));
  expect(await feed()).toEqual(before);
});
