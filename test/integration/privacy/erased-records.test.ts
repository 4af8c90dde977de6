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
    const record = `wrong-${assignment.replaceAll(/\W/g, '')}`;
    await exportOf(row(record, 'Ada Novak'));
    const wrong = await exportOf(row(record, 'Bob Quist'));
    await warehouse.pool.query(`update runs set ${assignment} where run_id = $1`, [wrong]);
    await eraseRow(row(record, 'Bob Quist'));
    expect(await outcomeOf(row(record, 'Ada Novak', 'fjord.example'))).toBeNull();
    expect(await outcomeOf(row(record, 'Bob Quist', 'fjord.example'))).toBe('suppressed');
  },
);

it('an erasure suppresses a record id that another person has now only together with the erased name', async () => {
  await exportOf(row('reused', 'Ada Novak'));
  await exportOf(row('reused', 'Bob Quist'));
  await eraseRow(row('reused', 'Ada Novak'));
  expect(await outcomeOf(row('reused', 'Bob Quist', 'fjord.example'))).toBeNull();
  expect(await outcomeOf(row('reused', 'Ada Novak', 'fjord.example'))).toBe('suppressed');
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
