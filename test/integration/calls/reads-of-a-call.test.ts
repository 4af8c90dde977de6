import { expect, it } from 'vitest';
import type { Person } from '../../../src/domain/identity/person.ts';
import { bulkMatchScope, endCall } from '../../../src/ledger/rate-windows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { rowsReadByTable } from '../../helpers/database/contents.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const calls = 40;
const peoplePerCall = 10;
/** Two colleagues at each company, one with an address and one with a name only. */
const rows = Array.from({ length: calls * peoplePerCall }, (_, index): StagedRow => {
  const { first, last, company, email } = invented(index);
  return {
    contactId: `c-${index}`,
    firstName: first,
    lastName: last,
    organizationName: company,
    ...(index % 2 === 0
      ? { email, keys: [`email:${email}`] }
      : { keys: [`name:${first} ${last}|${company}`.toLowerCase()] }),
  };
});
const warehouse = await warehouseOfFile({ connections: 1, keepsPlans: true });

// Plans stay those of an empty warehouse: statistics would let PostgreSQL make better ones.
const tables = await warehouse.query<{ name: string }>`
  select oid::regclass::text as name from pg_class
  where relkind = 'r' and relnamespace in ('enrichment'::regnamespace, 'enrichment_internal'::regnamespace)`;
for (const { name } of tables)
  await warehouse.pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
await addToSuppressionList(warehouse, 'email:listed@orbit.example');

it('recording a call reads as few database rows late in a run as early, also with outdated query plans', async () => {
  const runId = await runningRunOf(warehouse, rows);
  await readsOfCalls(runId, 1, 5);
  const early = await readsOfCalls(runId, 6, 10);
  await addEarlierRuns(500);
  await readsOfCalls(runId, 11, calls - 5);
  const late = await readsOfCalls(runId, calls - 4, calls);
  const most = Math.max(...Object.values(early));
  expect(most).toBeLessThan(rows.length);
  // A table scan reads 60 rows or more; a busy server also reads some index entries of deleted rows.
  const deleted = 10;
  expect(Object.entries(late).filter(([table, read]) => read > 1.2 * early[table]! + deleted)).toEqual([]);
});

async function addEarlierRuns(count: number): Promise<void> {
  await warehouse.query`
    insert into runs (run_id, run_key, workflow_id, status, file_path, file_name, file_sha256, options, finished_at)
    select 'earlier-' || n, n, n, 'finished', 'x', 'x', n, '{}', now() from generate_series(1, ${count}) n`;
}

async function readsOfCalls(runId: string, first: number, last: number): Promise<Record<string, number>> {
  const before = await rowsReadByTable(warehouse);
  for (let batch = first; batch <= last; batch += 1) {
    const { attemptId } = await answerBatch(warehouse, { runId, batch }, (people) =>
      people.map(({ rowNumber }) => personOf(rowNumber - 1)),
    );
    await endCall(warehouse.database, { service: 'test', scope: bulkMatchScope }, attemptId, 'accepted');
  }
  const after = await rowsReadByTable(warehouse);
  return Object.fromEntries(
    [...after].map(([table, read]) => [table, (read - (before.get(table) ?? 0)) / (last - first + 1)]),
  );
}

function invented(index: number) {
  const company = `Orbit ${letters(Math.floor(index / 2))}`;
  const [first, last] = [`Ada${letters(index)}`, `Novak${letters(index)}`];
  return { first, last, company, email: `${first}.${last}@orbit-${index}.example`.toLowerCase() };
}

function personOf(index: number): Person {
  const { first, last, company, email } = invented(index);
  return {
    id: `p-${index}`,
    first_name: first,
    last_name: last,
    email,
    email_status: 'verified',
    title: 'Engineer',
    organization: {
      id: `o-${Math.floor(index / 2)}`,
      name: company,
      primary_domain: `orbit-${index}.example`,
    },
  };
}

/** A word for a number. */
function letters(index: number): string {
  return String(index).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!);
}
