import { sql, type Kysely } from 'kysely';

/** What is kept for a time only, and who may read what is kept; `tables.ts` explains the columns. */
export async function up(database: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}

const statements = [
  `alter table enrichment.runs add column rows_pruned integer not null default 0`,
  `alter table enrichment.webhook_deliveries alter column body drop not null`,
  `create index raw_answers_by_age on enrichment.raw_answers (received_at)`,
  // Deliveries enter it when they have taken effect, so storing one costs no more than before.
  `create index webhook_deliveries_to_prune on enrichment.webhook_deliveries (received_at)
    where status in ('applied', 'duplicate') and body is not null`,

  `create table enrichment.analyst_roles (role_name text primary key)`,
];
