import { sql, type Kysely } from 'kysely';

/** The tables of the first release; `tables.ts` explains the columns. */
export async function up(database: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}

const statements = [
  `create table enrichment.runs (
    run_id text primary key,
    run_key text not null,
    workflow_id text not null,
    status text not null check (status in ('ingesting', 'planning', 'awaiting_approval', 'running', 'cancelling',
      'planned', 'paused', 'finished', 'cancelled', 'failed')),
    stop jsonb,
    source text,
    file_path text not null,
    file_name text not null,
    file_sha256 text not null,
    options jsonb not null,
    header text[],
    mapping jsonb,
    warnings text[] not null default '{}',
    rows_staged integer not null default 0,
    ingested_at timestamptz,
    plan jsonb,
    plan_hash text,
    expected_plan_hash text,
    as_of timestamptz not null default now(),
    created_at timestamptz not null default now(),
    approved_at timestamptz,
    finished_at timestamptz
  )`,
  `create unique index runs_one_unfinished on enrichment.runs (run_key)
    where status not in ('planned', 'finished', 'cancelled', 'failed')`,
  `create index runs_by_time on enrichment.runs (created_at desc)`,

  `create table enrichment.run_rows (
    run_id text not null,
    row_number integer not null,
    contact_id text not null,
    outcome text,
    reason text,
    raw text not null,
    person_id text,
    email text,
    other_emails text[],
    hashed_email text,
    profile_url text,
    first_name text,
    last_name text,
    name text,
    organization_name text,
    domain text,
    opted_out boolean not null default false,
    keys text[] not null,
    primary key (run_id, row_number)
  )`,

  `create table enrichment.run_people (
    run_id text not null,
    position integer not null,
    row_number integer not null,
    primary key (run_id, position)
  )`,

  `create table enrichment.attempts (
    attempt_id text primary key,
    run_id text not null references enrichment.runs,
    batch integer not null,
    status text not null check (status in ('admitted', 'awaiting', 'unknown', 'settled', 'refused', 'released')),
    reason text,
    people integer not null check (people > 0),
    request_id text,
    credits_reserved numeric(20, 6) not null check (credits_reserved >= 0),
    credits_settled numeric(20, 6) check (credits_settled >= 0),
    budget_ids text[] not null,
    token_hash bytea,
    http_status integer,
    admitted_at timestamptz not null default clock_timestamp(),
    answered_at timestamptz,
    closed_at timestamptz,
    constraint attempts_settled_once_known check ((credits_settled is null) = (status in ('admitted', 'awaiting', 'unknown')))
  )`,
  `create index attempts_by_batch on enrichment.attempts (run_id, batch)`,
  `create index attempts_open on enrichment.attempts (status) where status in ('admitted', 'awaiting', 'unknown')`,
  `create unique index attempts_by_token on enrichment.attempts (token_hash) where token_hash is not null`,

  `create table enrichment.attempt_people (
    attempt_id text not null references enrichment.attempts on delete cascade,
    detail_index integer not null,
    run_id text not null,
    row_number integer not null,
    outcome text,
    person_id text,
    evidence text,
    primary key (attempt_id, detail_index)
  )`,
  `create index attempt_people_by_row on enrichment.attempt_people (run_id, row_number)`,

  `create table enrichment.raw_answers (
    attempt_id text primary key references enrichment.attempts on delete cascade,
    received_at timestamptz not null default clock_timestamp(),
    content_type text,
    body_gzip bytea not null
  )`,
  // Already compressed: trying again costs the server time and gains nothing.
  `alter table enrichment.raw_answers alter column body_gzip set storage external`,

  `create table enrichment.quarantined_people (
    attempt_id text not null references enrichment.attempts on delete cascade,
    match_index integer not null,
    reason text not null,
    created_at timestamptz not null default now(),
    primary key (attempt_id, match_index)
  )`,

  `create table enrichment.budgets (
    budget_id text primary key,
    credits_limit numeric(20, 6) check (credits_limit >= 0),
    reserved numeric(20, 6) not null default 0 check (reserved >= 0),
    settled numeric(20, 6) not null default 0 check (settled >= 0)
  )`,

  `create table enrichment.rate_scopes (
    scope text primary key,
    paused_until timestamptz,
    pause_reason text,
    refusals integer not null default 0
  )`,
  `create table enrichment.rate_calls (
    call_id text primary key,
    scope text not null,
    started_at timestamptz not null default clock_timestamp(),
    counted_until timestamptz not null
  )`,
  `create index rate_calls_by_end on enrichment.rate_calls (scope, counted_until)`,

  `create table enrichment.claims (
    identity_key text primary key,
    run_id text not null,
    row_number integer not null,
    claimed_at timestamptz not null default now()
  )`,
  `create index claims_by_run on enrichment.claims (run_id, row_number)`,

  `create table enrichment.identity_memory (
    identity_key text not null,
    field_group text not null,
    outcome text not null,
    asked_at timestamptz not null,
    run_id text not null,
    primary key (identity_key, field_group)
  )`,

  `create table enrichment.enriched_contacts (
    source text not null,
    contact_id text not null,
    person_id text,
    first_name text,
    last_name text,
    email text,
    email_status text,
    title text,
    headline text,
    seniority text,
    departments text[],
    city text,
    state text,
    country text,
    organization_id text,
    organization_name text,
    organization_domain text,
    organization_industry text,
    organization_employees integer,
    phone text,
    linkedin_url text,
    enriched_at timestamptz not null,
    run_id text not null,
    attempt_id text not null,
    row_number integer not null,
    primary key (source, contact_id)
  )`,
  `create index enriched_contacts_by_person on enrichment.enriched_contacts (person_id)`,

  `create table enrichment.webhook_deliveries (
    delivery_id text primary key,
    attempt_id text,
    body bytea not null,
    body_sha256 bytea not null,
    received_at timestamptz not null default clock_timestamp(),
    status text not null default 'received',
    reason text,
    applied_at timestamptz
  )`,
  `create index webhook_deliveries_waiting on enrichment.webhook_deliveries (received_at) where status = 'received'`,
];
