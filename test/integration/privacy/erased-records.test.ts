import { expect, it } from 'vitest';
import { erase } from '../../../src/privacy/erase.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, type StagedRow, testNote, noSignal, neverFresh } from '../../helpers/warehouse/rows.ts';
import {
  answerBatch,
  runningRunOf,
  personOf,
  endPlayedRun,
  playRun,
} from '../../helpers/warehouse/scripted-calls.ts';
import { keysOfRecord } from '../../../src/privacy/person-traces.ts';
import { prune } from '../../../src/privacy/prune.ts';
import { readAllTablesAsText } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

function row(record: string, name: string, host = 'orbit.example'): StagedRow {
  const [firstName = '', lastName = ''] = name.split(' ');
  const email = `${name.replace(' ', '.').toLowerCase()}.${record}@${host}`;
  return { email, firstName, lastName, contactId: record };
}

const exportOf = (...rows: readonly StagedRow[]): Promise<string> =>
  runningRunOf(warehouse, rows, { source: 'hubspot' });

const eraseRow = ({ email }: StagedRow): Promise<unknown> => erase(warehouse, [`email:${email}`], testNote);

/** The outcome of a row in a new export. */
async function outcomeOf(again: StagedRow): Promise<string | null> {
  return (await outcomesOf(warehouse, await exportOf(again)))[0]!;
}

it.each(['undone_at = now()', `status = 'failed'`])(
  'an erasure does not suppress a record id that only a run with %s gave to the erased person',
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

it('an erasure suppresses a reused record id only together with the name of the erased person', async () => {
  await exportOf(row('reused', 'Ada Novak'));
  await exportOf(row('reused', 'Bob Quist'));
  await eraseRow(row('reused', 'Ada Novak'));
  expect(await outcomeOf(row('reused', 'Bob Quist', 'fjord.example'))).toBeNull();
  expect(await outcomeOf(row('reused', 'Ada Novak', 'fjord.example'))).toBe('suppressed');
});

it('after an erasure, the change feed has only a delete for the contact of the erased person', async () => {
  const feedOf = async (contactId: string): Promise<string[]> => {
    const rows = await warehouse.query<{ operation: string }>`
      select operation from changes where contact_id = ${contactId} order by change_id`;
    return rows.map(({ operation }) => operation);
  };
  for (const [record, name] of [
    ['of-feed', 'Eva Lund'],
    ['beside', 'Finn Lund'],
  ] as const) {
    const staged = row(record, name);
    await playRun(warehouse, [staged], [personOf(staged)], { source: 'hubspot' });
  }
  expect(await feedOf('of-feed')).toEqual(['upsert']);
  await eraseRow(row('of-feed', 'Eva Lund'));
  expect(await feedOf('of-feed')).toEqual(['delete']);
  expect(await feedOf('beside')).toEqual(['upsert']);
});

/** Ends a run of one row. @param id of the person whom the service finds; undefined: no call is made */
async function exported(staged: StagedRow, id: string | undefined): Promise<void> {
  const runId = await runningRunOf(warehouse, [staged], { source: 'hubspot', freshness: neverFresh });
  if (id === undefined)
    await warehouse.query`update run_rows set outcome = 'over_budget' where run_id = ${runId}`;
  else await answerBatch(warehouse, { runId }, () => [personOf(staged, { id })]);
  await endPlayedRun(warehouse, runId);
}

/** Two exports of one record. @param ids of the people whom the calls for the two exports find */
async function changedAddress(record: string, names: readonly [string, string], ids: readonly string[]) {
  const rows = [row(record, names[0], 'vesta.example'), row(record, names[1], 'neu.example')] as const;
  for (const [index, staged] of rows.entries()) await exported(staged, ids[index]);
  return { before: rows[0].email!, after: rows[1].email! };
}

it.each(['before', 'after'] as const)(
  'an erasure by the e-mail %s a change of the CRM record removes the person and both rows',
  async (which) => {
    const name = which === 'before' ? 'Nora Iversen' : 'Runa Iversen';
    const addresses = await changedAddress(`moved-${which}`, [name, name], [`id-${which}`]);
    expect(await erase(warehouse, [`email:${addresses[which]}`], testNote)).toMatchObject({
      contacts: 1,
      observations: 1,
      rows: 2,
    });
    expect((await readAllTablesAsText(warehouse)).toLowerCase()).not.toContain(
      name.split(' ')[0]!.toLowerCase(),
    );
  },
);

it.each(['before', 'after'] as const)(
  'an erasure by the e-mail %s a change of the CRM record removes both people found for the record',
  async (which) => {
    const name = which === 'before' ? 'Dora Lindqvist' : 'Mira Lindqvist';
    const ids = [`first-${which}`, `second-${which}`];
    const addresses = await changedAddress(`asked-${which}`, [name, name], ids);
    const record = { source: 'hubspot', contactId: `asked-${which}` };
    expect(await keysOfRecord(warehouse.database, record)).toContain(`email:${addresses.before}`);
    await erase(warehouse, [`email:${addresses[which]}`], testNote);
    const left = (await readAllTablesAsText(warehouse)).toLowerCase();
    for (const word of [name.split(' ')[0]!.toLowerCase(), ...ids]) expect(left).not.toContain(word);
  },
);

it('an erasure by the new e-mail of a CRM record removes the person after retention removed the rows', async () => {
  const { after } = await changedAddress('pruned', ['Tilda Falk', 'Tilda Falk'], ['id-pruned']);
  await prune(warehouse, { staging: 0, rows: 0 }, noSignal);
  await erase(warehouse, [`email:${after}`], testNote);
  expect(await readAllTablesAsText(warehouse)).not.toContain('Tilda');
});

it.each([
  ['another first name', 'Ada Novak', 'Bea Novak'],
  ['another name', 'Ida Novak', 'Cleo Quist'],
])(
  'an erasure by the new e-mail of a CRM record keeps the earlier person with %s',
  async (_, before, after) => {
    const addresses = await changedAddress(`reused-${after}`, [before, after], [`id-${before}`]);
    await erase(warehouse, [`email:${addresses.after}`], testNote);
    const left = await readAllTablesAsText(warehouse);
    expect(left).toContain(before.split(' ')[0]);
    expect(left).not.toContain(addresses.after);
  },
);
