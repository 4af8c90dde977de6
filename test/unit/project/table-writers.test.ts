import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const sqlFolder = new URL('../../../src/db/sql/', import.meta.url);
const source = fileURLToPath(new URL('../../../src', import.meta.url));

/** The folder that writes each table. */
const owners: Readonly<Record<string, string>> = {
  analyst_roles: 'db',
  attempt_people: 'ledger',
  attempts: 'ledger',
  budget_alarms: 'ledger',
  budget_changes: 'ledger',
  budgets: 'ledger',
  changes: 'people',
  changes_pruned: 'people',
  claims: 'runs',
  contact_decisions: 'people',
  contact_keys: 'people',
  contact_matches: 'people',
  contact_records: 'people',
  credit_statements: 'ledger',
  digest_queue: 'people',
  erasures: 'privacy',
  expected_results: 'late-results',
  lookup_history: 'people',
  lookup_runs: 'people',
  notifications: 'monitoring',
  observation_log: 'people',
  organization_facts: 'people',
  people: 'people',
  person_history: 'people',
  person_keys: 'people',
  quarantined_people: 'people',
  rate_calls: 'ledger',
  rate_reports: 'ledger',
  rate_scopes: 'ledger',
  raw_answers: 'calls',
  run_people: 'runs',
  run_rows: 'runs',
  runs: 'runs',
  suppressed_keys: 'suppression',
  suppression_entries: 'suppression',
  waiting_batches: 'ledger',
  webhook_deliveries: 'late-results',
  worker_budgets: 'ledger',
};

/** Folders that remove personal data from all tables. */
const removers: readonly string[] = ['privacy', 'suppression'];

/** Folders that write a table of another folder, each with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'calls writes claims': 'the claims of a person whom the service refuses end with the outcome',
  'calls writes run_rows': 'a person whom the service refuses is rejected together with the lookup',
  'ingest writes run_rows': 'COPY stages the rows of an export',
  'ingest writes runs': 'each chunk of rows and the number of staged rows commit together',
  'late-results writes attempts': 'the times of polls are columns of the attempt',
  'ledger writes claims': 'a decision about an unknown call releases its people',
  'ledger writes run_rows': 'the rows of a call become unknown, or open again, with their attempt',
  'ledger writes runs': 'a call that was billed too much pauses its run in the same transaction',
  'people writes attempt_people': 'the digest writes whom each row of a call has got',
  'people writes claims': 'a claim ends with the outcome of its row',
  'people writes raw_answers':
    'the digest removes bodies with suppressed people, and notes keys of unknown people',
  'people writes run_rows': 'the digest gives rows their outcomes',
  'runs writes digest_queue': 'an undo queues the contacts of its run in one statement',
  'runs writes lookup_history': 'discarding the answers of an undone run removes its lookups',
  'runs writes observation_log': 'discarding the answers of an undone run removes what they said',
  'runs writes raw_answers': 'discarding the answers of an undone run removes their bodies',
  'runs writes webhook_deliveries':
    'discarding the answers of an undone run removes the bodies of its deliveries',
};

const write =
  /\b(?:insert into|update|delete from|copy)\s+(?:enrichment(?:_internal)?\.)?([a-z_]+)\b|\.(?:insertInto|updateTable|deleteFrom)\('([a-z_.]+)'/g;

it('each table is written by one folder of src, except for listed exceptions with a reason', () => {
  const foreign = new Set<string>();
  const written = new Set<string>();
  const texts = readdirSync(sqlFolder).map((name) => readFileSync(new URL(name, sqlFolder), 'utf8'));
  const tables = new Set(
    [...texts.join('\n').matchAll(/^create (?:unlogged )?table \w+\.(\w+)/gm)].map(([, table]) => table!),
  );
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.startsWith('db/migrations/') || file.startsWith('sandbox/')) continue;
    const folder = file.split('/')[0]!;
    for (const [, raw, built] of readFileSync(`${source}/${file}`, 'utf8').matchAll(write)) {
      const table = raw ?? built!;
      if (!tables.has(table)) continue;
      written.add(table);
      if (folder !== owners[table] && !removers.includes(folder)) foreign.add(`${folder} writes ${table}`);
    }
  }
  expect([...foreign].toSorted()).toEqual(Object.keys(exceptions).toSorted());
  expect([...written].filter((table) => owners[table] === undefined)).toEqual([]);
});
