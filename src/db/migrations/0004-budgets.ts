import { sql, type Kysely } from 'kysely';

/** Budgets that are set by command, with their history and alarms; pilots; `tables.ts` explains the columns. */
export async function up(database: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}

const statements = [
  `alter table enrichment.budgets add column set_by_command boolean not null default false`,
  `create table enrichment.standing_budgets (
    period text primary key check (period in ('day', 'month')),
    credits_limit numeric(20, 6) check (credits_limit >= 0)
  )`,
  `create table enrichment.budget_changes (
    change_id bigint generated always as identity primary key,
    changed_at timestamptz not null default clock_timestamp(),
    budget_id text not null,
    old_limit numeric(20, 6),
    new_limit numeric(20, 6),
    changed_by text not null,
    reason text
  )`,
  `create index budget_changes_by_budget on enrichment.budget_changes (budget_id, change_id)`,
  `create table enrichment.budget_alarms (
    budget_id text not null,
    percent integer not null check (percent between 1 and 100),
    credits_limit numeric(20, 6) not null,
    used numeric(20, 6) not null,
    crossed_at timestamptz not null default clock_timestamp(),
    primary key (budget_id, percent, credits_limit)
  )`,
  `alter table enrichment.runs add column pilot jsonb`,
  `alter table enrichment.runs add column match_rate_since timestamptz`,
  `create index attempts_by_answer on enrichment.attempts (run_id, answered_at desc) where answered_at is not null`,
];
