import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql, type Kysely } from 'kysely';

/** Names of the files of `src/db/sql` in their order. Statements only use tables and functions of earlier files. */
const names = [
  'runs',
  'ledger',
  'late-results',
  'facts',
  'people',
  'organizations',
  'questions',
  'run-figures',
  'privacy',
  'rate-windows',
  'budgets',
  'admission',
  'notifications',
  'common-columns',
];

// The build copies the folder, so that the bundle and the compiled files find it by the same path.
const files = names.map((name) => readFileSync(new URL(`../sql/${name}.sql`, import.meta.url), 'utf8'));

/**
 * Hash of the SQL files. Before the first release these files change in place, and the hash detects a database of
 * another commit. After the release this check ends, because migrations only add.
 */
export const fingerprint = createHash('sha256').update(files.join('\n')).digest('hex').slice(0, 16);

/** The schema of version 0.1.0. Kysely has already created the table of migrations. */
export async function up(database: Kysely<never>): Promise<void> {
  const keptFingerprint = `comment on table enrichment.kysely_migration is '${fingerprint}'`;
  for (const file of [...files, keptFingerprint]) await sql.raw(file).execute(database);
}
