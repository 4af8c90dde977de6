import { attemptStatuses, holdingStatuses } from '../../../../domain/money/attempt-status.ts';
import { periodNames } from '../../../../domain/money/budget-periods.ts';
import { oneOf } from '../../../one-of.ts';

/** Attempts, budgets and rate windows; `column-comments` explains the columns. */
export const ledgerTables = [
  `create table enrichment.attempts (
    attempt_id text primary key,
    run_id text not null references enrichment.runs,
    batch integer not null,
    status text not null check (status in (${oneOf(attemptStatuses)})),
    reason text,
    people integer not null check (people > 0),
    request_id text,
    credits_reserved numeric(20, 6) not null check (credits_reserved >= 0),
    credits_settled numeric(20, 6) check (credits_settled >= 0),
    credits_answered numeric(20, 6) check (credits_answered >= 0),
    credits_stated numeric(20, 6) check (credits_stated >= 0),
    budget_ids text[] not null,
    token_hash bytea,
    http_status integer,
    awaits text[] not null default '{}',
    found_ids text[] not null default '{}',
    found_people integer not null default 0,
    awaited_until timestamptz,
    next_poll_at timestamptz,
    polls integer not null default 0,
    phones_with_earlier boolean not null default false,
    admitted_at timestamptz not null default clock_timestamp(),
    answered_at timestamptz,
    decided_at timestamptz,
    closed_at timestamptz,
    constraint attempts_settled_once_known
      check ((credits_settled is null) = (status in (${oneOf(holdingStatuses)})))
  )`,
  // The counts of people come from the index alone: a run can have millions of calls.
  `create index attempts_by_batch on enrichment.attempts (run_id, batch) include (status, people)`,
  `create index attempts_open on enrichment.attempts (status) where status in (${oneOf(holdingStatuses)})`,
  `create unique index attempts_by_token on enrichment.attempts (token_hash) where token_hash is not null`,
  // Deliveries to calls without an answer look for another call with the id of their request.
  `create index attempts_by_request on enrichment.attempts (request_id) where request_id is not null`,
  `create index attempts_to_poll on enrichment.attempts (run_id, next_poll_at) where status = 'awaiting'`,
  // Erasures read this index, and fastupdate keeps recording fast.
  `create index attempts_by_found_id on enrichment.attempts using gin (found_ids) where found_ids <> '{}'`,
  `create index attempts_by_answer on enrichment.attempts (run_id, answered_at desc) where answered_at is not null`,

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
  `create index attempt_people_by_person on enrichment.attempt_people (person_id) where person_id is not null`,

  `create table enrichment.raw_answers (
    attempt_id text primary key references enrichment.attempts on delete cascade,
    received_at timestamptz not null default clock_timestamp(),
    body_gzip bytea not null,
    -- Identity keys of people in the body of whom nothing is recorded: an erasure removes the body.
    unrecorded_keys text[] not null default '{}'
  )`,
  `create index raw_answers_by_key on enrichment.raw_answers using gin (unrecorded_keys) where unrecorded_keys <> '{}'`,
  // The body is compressed already.
  `alter table enrichment.raw_answers alter column body_gzip set storage external`,
  `create index raw_answers_by_age on enrichment.raw_answers (received_at)`,

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
    settled numeric(20, 6) not null default 0 check (settled >= 0),
    set_by_command boolean not null default false
  )`,
  // All calls share the budgets. A row that is locked before the commit stays locked until the client has sent the
  // commit, 10 to 20 ms under load: all workers together could settle only 50 calls a second.
  `create unlogged table enrichment.settlements (
    budget_ids text[] not null,
    released numeric(20, 6) not null,
    consumed numeric(20, 6) not null
  )`,
  `create table enrichment.default_budgets (
    period text primary key check (period in (${oneOf(periodNames)})),
    credits_limit numeric(20, 6) check (credits_limit >= 0)
  )`,
  `create table enrichment.worker_budgets (
    period text primary key check (period in (${oneOf(periodNames)})),
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

  `create table enrichment.credit_statements (
    statement_id bigint generated always as identity primary key,
    service text not null,
    run_id text,
    consumed numeric(20, 6) not null,
    cycle_start text,
    cycle_end text,
    read_at timestamptz not null default clock_timestamp()
  )`,
  `create index credit_statements_by_cycle
    on enrichment.credit_statements (service, cycle_start, statement_id)`,

  `create table enrichment.rate_scopes (
    -- Shared by all addresses of the service: two addresses can be the same service.
    scope text primary key,
    paused_until timestamptz,
    pause_reason text,
    -- Above 0, only one call at a time is sent, as a probe.
    refusals integer not null default 0,
    refused_at timestamptz
  )`,
  `create table enrichment.rate_calls (
    call_id text primary key,
    scope text not null,
    started_at timestamptz not null default clock_timestamp(),
    counted_until timestamptz not null,
    abandoned boolean not null default false,
    position bigint
  )`,
  `create index rate_calls_by_end on enrichment.rate_calls (scope, counted_until, position)`,
  `create index rate_calls_by_position on enrichment.rate_calls (scope, position, counted_until)`,
  // The next admission gives the call a new position.
  `create function enrichment.clear_call_position() returns trigger language plpgsql as $$
    begin
      new.position := null;
      return new;
    end
  $$`,
  `create trigger call_ends_at_another_time before update of counted_until on enrichment.rate_calls for each row
    when (old.position is not null and new.counted_until <> old.counted_until)
    execute function enrichment.clear_call_position()`,
  `create table enrichment.rate_reports (
    service text not null,
    scope text not null,
    seconds integer not null check (seconds > 0),
    -- The largest integer: unlimited, or not reported.
    calls_limit integer not null check (calls_limit > 0),
    calls_left integer not null check (calls_left >= 0),
    said_at timestamptz not null,
    -- When the window has ended at the latest. Only the limit of the next window is then known.
    believed_until timestamptz not null,
    primary key (service, scope, seconds)
  )`,

  // Unlogged, so that registering writes nothing to the disk. After a crash of the server every batch registers again.
  // No reference to `runs`: it would lock the row of the run for each batch.
  `create unlogged table enrichment.waiting_batches (
    run_id text not null,
    batch integer not null,
    waits_until timestamptz not null,
    primary key (run_id, batch)
  )`,
];
