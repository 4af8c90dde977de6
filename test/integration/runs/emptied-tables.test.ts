import { beforeEach, expect, it } from 'vitest';
import { endRun } from '../../../src/runs/finish-run.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { rowsReadByTable } from '../../helpers/database/rows-read.ts';
import { asked, stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 1 });
const tables = ['run_rows', 'claims', 'contact_matches'];
const people = 900;

/** A run of new people. With more rows, the plan of the run would renew the statistics. */
async function planned(): Promise<string> {
  const rows = Array.from({ length: people }, (_, index) => ({
    keys: [`email:p${index + 1}@large.example`, `person:p${index + 1}`],
    contactId: `c${index + 1}`,
  }));
  const { runId } = await stagedRun(warehouse, rows);
  await planRows(warehouse, runId, asked);
  return runId;
}

/** The rows of a table that the work reads. */
async function readBy(table: string, work: () => Promise<unknown>): Promise<number> {
  const before = (await rowsReadByTable(warehouse)).get(table)!;
  await work();
  return (await rowsReadByTable(warehouse)).get(table)! - before;
}

// The pages stay, because the last one is used or VACUUM is told so, and PostgreSQL expects them to be empty.
beforeEach(async () => {
  await warehouse.pool.query('truncate runs, run_rows, run_people, claims, contact_matches cascade');
  await warehouse.query`
    insert into run_rows (run_id, row_number, contact_id, raw, keys)
    select 'old', n, 'c' || n, repeat('x', 200), '{}' from generate_series(1, 3000) n`;
  await warehouse.query`
    insert into claims (identity_key, service, run_id, row_number)
    select 'email:old' || n || '@large.example', 'test', 'old', n from generate_series(1, 3000) n`;
  await warehouse.query`
    insert into contact_matches
      (source, contact_id, service, person_key, evidence, asked, run_id, row_number, decided_at)
    select 'crm', 'c' || n, 'test', 'person:p' || n, 'email', false, 'old', n, now() from generate_series(1, 3000) n`;
  for (const table of tables) {
    await warehouse.pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await warehouse.pool.query(`delete from ${table}`);
    await warehouse.pool.query(`vacuum (truncate off) ${table}`);
  }
});

it('openPage() looks claims up by their keys after earlier runs have left the table empty', async () => {
  const runId = await planned();
  expect(await readBy('claims', () => openPage(warehouse, runId, 1, asked))).toBeLessThan(30 * people);
});

it('endRun() reads the rows of a run once after retention has emptied the table', async () => {
  const runId = await planned();
  await openPage(warehouse, runId, 1, asked);
  const end = () => endRun(warehouse, runId, 'cancelled', { outcome: 'cancelled', reason: 'test' });
  expect(await readBy('run_rows', end)).toBeLessThan(30 * people);
});

it('readRunFacts() reads the matches of a run once after the table was empty', async () => {
  const runId = await planned();
  await warehouse.query`
    insert into contact_matches
      (source, contact_id, service, person_key, evidence, asked, run_id, row_number, decided_at)
    select 'generic', 'c' || n, 'test', 'person:p' || n, 'email', n > 400, ${runId}, n, now()
    from generate_series(1, ${people}::integer) n`;
  const facts = async () => expect(await readRunFacts(warehouse, runId)).toMatchObject({ filled: 400 });
  expect(await readBy('contact_matches', facts)).toBeLessThan(10 * people);
});
