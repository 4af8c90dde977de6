import { expect, it } from 'vitest';
import { erase } from '../../../src/privacy/erase.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { keysOfRecord } from '../../../src/privacy/person-traces.ts';
import { prune } from '../../../src/privacy/prune.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { readAllTablesAsText } from '../../helpers/database/contents.ts';

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

const { signal } = new AbortController();

interface Cells {
  readonly record: string;
  readonly name: string;
  readonly email: string;
  readonly personId?: string;
}

function rowOf({ record, name, email, personId }: Cells): StagedRow {
  const [firstName = '', lastName = ''] = name.split(' ');
  const cells = { email, firstName, lastName, ...(personId !== undefined && { personId }) };
  return { ...cells, keys: identityKeys(cells), contactId: record };
}

/** Ends a run of one row. @param id of the person whom the service finds; undefined: no call is made */
async function exported(cells: Cells, id?: string, source = 'hubspot'): Promise<void> {
  const freshness = { enrichedSeconds: 0, notFoundSeconds: 0 };
  const runId = await runningRunOf(warehouse, [rowOf(cells)], { source, freshness });
  const [first_name, last_name] = cells.name.split(' ');
  const person: Person = {
    id: id ?? null,
    first_name: first_name!,
    last_name: last_name!,
    email: cells.email,
  };
  if (id === undefined)
    await warehouse.query`update run_rows set outcome = 'over_budget' where run_id = ${runId}`;
  else await answerBatch(warehouse, { runId }, () => [person]);
  await reconcileContacts(warehouse, runId, signal);
  await endRun(warehouse, runId, 'finished', undefined);
}

const addressOf = (name: string, host: string): string =>
  `${name.replace(' ', '.').toLowerCase()}@${host}.example`;

/** Two exports of one record. @param ids of the people whom the calls for the two exports find */
async function changedAddress(record: string, names: readonly [string, string], ids: readonly string[]) {
  const [before, after] = [addressOf(names[0], 'vesta'), addressOf(names[1], 'neu')];
  await exported({ record, name: names[0], email: before }, ids[0]);
  await exported({ record, name: names[1], email: after }, ids[1]);
  return { before, after };
}

it.each(['before', 'after'] as const)(
  'an erasure by the e-mail %s a change of the CRM record removes the person and both rows',
  async (which) => {
    const name = which === 'before' ? 'Nora Iversen' : 'Runa Iversen';
    const addresses = await changedAddress(`moved-${which}`, [name, name], [`id-${which}`]);
    expect(await erase(warehouse, [`email:${addresses[which]}`], note)).toMatchObject({
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
    await erase(warehouse, [`email:${addresses[which]}`], note);
    const left = (await readAllTablesAsText(warehouse)).toLowerCase();
    for (const word of [name.split(' ')[0]!.toLowerCase(), ...ids]) expect(left).not.toContain(word);
  },
);

it('an erasure by the new e-mail of a CRM record removes the person after retention removed the rows', async () => {
  const { after } = await changedAddress('pruned', ['Tilda Falk', 'Tilda Falk'], ['id-pruned']);
  await prune(warehouse, { staging: 0, rows: 0 }, signal);
  await erase(warehouse, [`email:${after}`], note);
  expect(await readAllTablesAsText(warehouse)).not.toContain('Tilda');
});

it.each([
  ['another first name', 'Ada Novak', 'Bea Novak'],
  ['another name', 'Ida Novak', 'Cleo Quist'],
])(
  'an erasure by the new e-mail of a CRM record keeps the earlier person with %s',
  async (_, before, after) => {
    const addresses = await changedAddress(`reused-${after}`, [before, after], [`id-${before}`]);
    await erase(warehouse, [`email:${addresses.after}`], note);
    const left = await readAllTablesAsText(warehouse);
    expect(left).toContain(before.split(' ')[0]);
    expect(left).not.toContain(addresses.after);
  },
);
