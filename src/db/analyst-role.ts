import { sql, type Kysely, type Transaction } from 'kysely';
import { UsageProblem } from '../domain/problem.ts';
import { schemaName } from './session-settings.ts';

/**
 * Columns that an analyst may read: contacts, outcomes, calls and money. Bodies, rows of exports, hashes of tokens and
 * the lookup history are not readable. A new table needs an entry here. Columns that are not listed are not readable.
 */
export const analystColumns: {
  readonly [table: string]: 'all' | 'none' | readonly string[];
} = {
  enriched_contacts: 'all',
  // The first line of a file without a header is a contact, and a mapping names its cells.
  runs: [
    'run_id',
    'workflow_id',
    'status',
    'pause_reason',
    'source',
    'file_name',
    'file_sha256',
    'rows_staged',
    'rows_pruned',
    'rows_dropped',
    'outcomes',
    'export_profile',
    'plan',
    'plan_hash',
    'as_of',
    'created_at',
    'ingested_at',
    'approved_at',
    'finished_at',
    'cancelled_at',
    'cancelled_reason',
    'undone_at',
    'undone_by',
    'undone_reason',
    'answers_discarded_at',
  ],
  run_rows: ['run_id', 'row_number', 'contact_id', 'outcome', 'reason'],
  run_people: 'all',
  attempts: [
    'attempt_id',
    'run_id',
    'batch',
    'status',
    'reason',
    'people',
    'request_id',
    'credits_reserved',
    'credits_settled',
    'credits_answered',
    'credits_stated',
    'budget_ids',
    'http_status',
    'awaits',
    'found_ids',
    'found_people',
    'awaited_until',
    'next_poll_at',
    'polls',
    'phones_with_earlier',
    'admitted_at',
    'answered_at',
    'decided_at',
    'closed_at',
  ],
  attempt_people: 'all',
  quarantined_people: 'all',
  webhook_deliveries: [
    'delivery_id',
    'attempt_id',
    'run_id',
    'origin',
    'status',
    'reason',
    'late',
    'subject',
    'covers',
    'brings',
    'person_ids',
    'credits',
    'received_at',
    'applied_at',
  ],
  budgets: 'all',
  default_budgets: 'all',
  worker_budgets: 'all',
  budget_changes: 'all',
  budget_alarms: 'all',
  credit_statements: 'all',
  rate_scopes: 'all',
  rate_calls: 'all',
  rate_reports: 'all',
  settlements: 'none',
  waiting_batches: 'none',
  raw_answers: 'none',
  claims: 'none',
  lookup_history: 'none',
  lookup_runs: 'none',
  observations: 'all',
  // A function of the history of contacts reads it with the rights of its caller.
  observation_log: 'all',
  organization_facts: 'all',
  // Cells of exports.
  contact_records: 'none',
  contact_matches: 'all',
  person_history: 'all',
  contact_keys: 'none',
  person_keys: 'none',
  digest_lock: 'none',
  digest_queue: 'none',
  // Without the hash of the record's cells.
  contact_decisions: [
    'decision_id',
    'source',
    'contact_id',
    'service',
    'person_key',
    'verdict',
    'reason',
    'decided_by',
    'decided_at',
  ],
  people: 'all',
  organizations: 'all',
  // `organizations` has its columns.
  organization_values: 'none',
  contacts: 'all',
  changes: 'all',
  changes_pruned: 'all',
  prune_candidates: 'none',
  person_emails: 'all',
  person_phones: 'all',
  employment_history: 'all',
  current_values: 'none',
  field_provenance: 'all',
  contact_history: 'all',
  job_changes: 'all',
  job_changes_of_last_run: 'all',
  contact_phones: 'all',
  run_outcomes: 'all',
  run_credits: 'all',
  run_costs: 'all',
  run_waste: 'all',
  run_calls: 'all',
  run_late_results: 'all',
  calls_without_data: 'all',
  row_results: 'all',
  changes_of_last_day: 'all',
  value_changes_of_last_day: 'all',
  coverage_by_segment: 'all',
  oldest_values: 'all',
  duplicate_contacts: 'all',
  notifications: 'none',
  analyst_roles: 'none',
  fetched_exports: 'none',
  // Without its hash, which shows whether an identifier is on the list.
  suppression_entries: ['kind', 'domain', 'reason', 'added_by', 'added_at'],
  suppressed_keys: 'none',
  erasures: 'all',
};

/** Advisory lock of grants: PostgreSQL refuses two concurrent grants on a table ("concurrently updated"). */
const grantLock = 7_305_902_311;

/**
 * Gives every analyst role exactly the rights above, and revokes all other rights on the tables, such as those of an
 * earlier release. Deletes roles that were dropped from `analyst_roles`.
 *
 * @param role new analyst role
 */
export async function grantAnalysts(database: Kysely<never>, role?: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`set local lock_timeout = '1min'`.execute(transaction);
    await sql`select pg_advisory_xact_lock(${grantLock})`.execute(transaction);
    if (role !== undefined) {
      await requireReader(transaction, role);
      await sql`insert into enrichment.analyst_roles values (${role}) on conflict do nothing`.execute(
        transaction,
      );
    }
    await sql`delete from enrichment.analyst_roles where role_name not in (select rolname from pg_roles)`.execute(
      transaction,
    );
    const roles = await sql<{ name: string }>`select role_name as name from enrichment.analyst_roles`.execute(
      transaction,
    );
    for (const { name } of roles.rows) await grant(transaction, name);
  });
}

async function grant(transaction: Transaction<never>, role: string): Promise<void> {
  const [schema, reader] = [sql.id(schemaName), sql.id(role)];
  await sql`revoke all on all tables in schema ${schema} from ${reader}`.execute(transaction);
  await sql`grant usage on schema ${schema} to ${reader}`.execute(transaction);
  for (const [table, columns] of Object.entries(analystColumns)) {
    if (columns === 'none') continue;
    const readable = columns === 'all' ? sql`` : sql`(${sql.join(columns.map((column) => sql.id(column)))})`;
    await sql`grant select ${readable} on ${sql.id(schemaName, table)} to ${reader}`.execute(transaction);
  }
}

/** Refuses the owner of the tables: revoking the owner's rights would lock the product out. @throws Problem `role.*` */
async function requireReader(transaction: Transaction<never>, role: string): Promise<void> {
  const found = await sql<{ owns: boolean }>`
    select rolsuper or pg_has_role(oid, (select nspowner from pg_namespace
      where nspname = ${schemaName}), 'member') as owns
    from pg_roles where rolname = ${role}
  `.execute(transaction);
  if (found.rows.length === 0) {
    throw new UsageProblem('role.unknown', `there is no role "${role}"`, {
      where: '--analyst-role',
      next: 'create the role first, such as: create role analyst login password …',
    });
  }
  if (found.rows[0]!.owns) {
    throw new UsageProblem('role.owner', `"${role}" owns the tables or is a superuser: it cannot only read`, {
      where: '--analyst-role',
      next: 'name a role that only analysts use',
    });
  }
}
