import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

/**
 * Folders that write each table, its owner first. A table should have one; `privacy` also erases and prunes. The
 * further folders are those that are left: take them away, and add none.
 */
const writers: Readonly<Record<string, readonly string[]>> = {
  analyst_roles: ['db'],
  attempt_people: ['ledger', 'calls', 'privacy'],
  attempts: ['ledger', 'calls', 'late-results', 'privacy'],
  budget_alarms: ['ledger'],
  budget_changes: ['ledger'],
  budgets: ['ledger'],
  changes: ['people'],
  changes_pruned: ['people'],
  claims: ['runs', 'calls', 'ledger', 'people', 'privacy'],
  contact_matches: ['people', 'privacy'],
  contact_records: ['people'],
  contacts: ['people'],
  credit_statements: ['ledger'],
  default_budgets: ['ledger'],
  erasures: ['privacy'],
  fetched_exports: ['runs'],
  lookup_history: ['people', 'privacy'],
  notifications: ['monitoring'],
  observations: ['people', 'privacy'],
  organization_facts: ['people', 'privacy'],
  organizations: ['people'],
  people: ['people'],
  quarantined_people: ['calls'],
  rate_calls: ['ledger'],
  rate_reports: ['ledger'],
  rate_scopes: ['ledger'],
  raw_answers: ['calls', 'privacy'],
  run_people: ['runs'],
  run_rows: ['runs', 'calls', 'ingest', 'ledger', 'people', 'privacy'],
  runs: ['runs', 'ingest', 'ledger', 'privacy'],
  suppressed_keys: ['privacy'],
  suppression_entries: ['privacy'],
  waiting_batches: ['ledger', 'runs'],
  webhook_deliveries: ['late-results', 'calls', 'privacy'],
};

const write =
  /\b(?:insert into|update|delete from|copy)\s+(?:enrichment\.)?([a-z_]+)\b|\.(?:insertInto|updateTable|deleteFrom)\('([a-z_.]+)'/g;

it('every table is written only by the folders that own it', () => {
  const found = new Map<string, Set<string>>();
  const schema = readFileSync(`${source}/db/schema.ts`, 'utf8');
  const tables = new Set([...schema.matchAll(/^ {2}([a-z_]+): \w+Table;$/gm)].map(([, table]) => table));
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.startsWith('db/migrations/') || file.startsWith('sandbox/')) continue;
    for (const [, raw, built] of readFileSync(`${source}/${file}`, 'utf8').matchAll(write)) {
      const table = raw ?? built!;
      if (tables.has(table)) found.set(table, (found.get(table) ?? new Set()).add(file.split('/')[0]!));
    }
  }
  const unexpected = [...found].flatMap(([table, folders]) =>
    [...folders]
      .filter((folder) => !writers[table]?.includes(folder))
      .map((folder) => `${folder} writes ${table}`),
  );
  expect(unexpected).toEqual([]);
});
