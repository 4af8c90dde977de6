import { sql, type Kysely, type Transaction } from 'kysely';
import { UsageProblem } from '../domain/problem.ts';
import { internalSchemaName, schemaName } from './session-settings.ts';

/**
 * Columns that analysts may read in tables that contain cells of exports, bytes, hashes or settings. Analysts may read
 * all columns of the other tables in `enrichment`, and nothing in `enrichment_internal`.
 */
const readableColumns: Readonly<Record<string, string>> = {
  runs: `
    run_id, workflow_id, status, pause_reason, source, file_name, file_sha256, rows_staged, rows_pruned,
    rows_dropped, outcomes, export_profile, plan, plan_hash, as_of, created_at, ingested_at, approved_at,
    finished_at, cancelled_at, cancelled_reason, undone_at, undone_by, undone_reason, answers_discarded_at`,
  run_rows: 'run_id, row_number, contact_id, outcome, reason',
  attempts: `
    attempt_id, run_id, batch, status, reason, people, request_id, credits_reserved, credits_settled,
    credits_answered, credits_stated, budget_ids, http_status, found_ids, found_people,
    awaited_until, next_poll_at, polls, phones_with_earlier, admitted_at, answered_at, decided_at, closed_at`,
  expected_results: 'attempt_id, person_id, kind, status, delivery_id',
  webhook_deliveries: `
    delivery_id, attempt_id, run_id, origin, status, reason, late, subject, covers, brings, person_ids,
    credits, received_at, applied_at`,
  contact_decisions:
    'decision_id, source, contact_id, service, person_key, verdict, reason, decided_by, decided_at',
  suppression_entries: 'kind, domain, reason, added_by, added_at',
};

/** True if analysts may read a column of a table in the schema `enrichment`. */
export function isReadable(table: string, column: string): boolean {
  const columns = readableColumns[table];
  return columns === undefined || columns.trim().split(/,\s+/).includes(column);
}

/** Key of the advisory lock for grants. PostgreSQL refuses two concurrent grants on a table. */
const grantLock = 7_305_902_311;

/** Gives every analyst role exactly the rights of `readableColumns`, and forgets roles that no longer exist. */
export async function grantAnalysts(database: Kysely<never>, role?: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`set local lock_timeout = '1min'`.execute(transaction);
    await sql`select pg_advisory_xact_lock(${grantLock})`.execute(transaction);
    if (role !== undefined) {
      await requireReader(transaction, role);
      await sql`insert into analyst_roles values (${role}) on conflict do nothing`.execute(transaction);
    }
    await sql`
      delete from analyst_roles where role_name not in (select rolname from pg_roles)
    `.execute(transaction);
    const { rows } = await sql<{ name: string }>`select role_name as name from analyst_roles`.execute(
      transaction,
    );
    for (const { name } of rows) await grant(transaction, name);
  });
}

/** Revokes all rights of a role, then grants whole tables, or only the columns in `readableColumns`. */
async function grant(transaction: Transaction<never>, role: string): Promise<void> {
  const [schema, internal, reader] = [sql.id(schemaName), sql.id(internalSchemaName), sql.id(role)];
  await sql`revoke all on all tables in schema ${schema}, ${internal} from ${reader}`.execute(transaction);
  await sql`revoke all on schema ${internal} from ${reader}`.execute(transaction);
  await sql`grant usage on schema ${schema} to ${reader}`.execute(transaction);
  await sql`grant select on all tables in schema ${schema} to ${reader}`.execute(transaction);
  for (const [table, columns] of Object.entries(readableColumns)) {
    const name = sql.id(schemaName, table);
    await sql`revoke select on ${name} from ${reader}`.execute(transaction);
    await sql`grant select (${sql.raw(columns)}) on ${name} to ${reader}`.execute(transaction);
  }
}

/** Refuses the owner of the tables, because revoking its rights would lock the product out. @throws Problem `role.*` */
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
