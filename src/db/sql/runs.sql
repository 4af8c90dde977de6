-- `enrichment` contains the tables of docs/reference/tables.md; `enrichment_internal` contains queues, locks, keys and
-- bytes. The block below avoids `if not exists`, which needs the right to create schemas even if they exist.
do $$
begin
  if to_regnamespace('enrichment') is null then create schema enrichment; end if;
  if to_regnamespace('enrichment_internal') is null then create schema enrichment_internal; end if;
end
$$;

create table enrichment.runs (
  run_id text primary key,
  run_key text not null,
  workflow_id text not null,
  status text not null check (status in ('ingesting', 'planning', 'awaiting_approval', 'running', 'cancelling',
    'planned', 'paused', 'finished', 'cancelled', 'failed')),
  pause_reason jsonb,
  source text,
  file_path text not null,
  file_name text not null,
  file_sha256 text not null,
  options jsonb not null,
  header text[],
  mapping jsonb,
  warnings text[] not null default '{}',
  rows_staged integer not null default 0 check (rows_staged = 0 or source is not null),
  rows_pruned integer not null default 0,
  rows_dropped integer not null default 0,
  outcomes jsonb,
  ingested_at timestamptz,
  export_profile jsonb,
  plan jsonb,
  plan_hash text,
  expected_plan_hash text,
  as_of timestamptz not null default now(),
  created_at timestamptz not null default now(),
  approved_at timestamptz,
  finished_at timestamptz,
  pilot_judged_at timestamptz,
  match_rate_since timestamptz,
  applied_updates text[] not null default '{}',
  cancelled_at timestamptz,
  cancelled_reason text,
  undone_at timestamptz,
  undone_by text,
  undone_reason text,
  answers_discarded_at timestamptz
);
comment on table enrichment.runs is 'One enrichment of one file';
comment on column enrichment.runs.run_key is
  'Hash of file content and options, unique among unfinished runs: the same command continues the run';
comment on column enrichment.runs.workflow_id is 'Workflow in Temporal';
comment on column enrichment.runs.status is 'finished, paused, cancelled, failed or the current step';
comment on column enrichment.runs.pause_reason is 'Why the run is paused, and the next step';
comment on column enrichment.runs.file_sha256 is 'Hash of the content of the export';
comment on column enrichment.runs.mapping is 'Field by column of the file';
comment on column enrichment.runs.warnings is 'Irregularities of the file that did not prevent reading it';
comment on column enrichment.runs.rows_staged is 'Records of the file';
comment on column enrichment.runs.rows_pruned is 'Rows whose cells retention has removed';
comment on column enrichment.runs.rows_dropped is 'Rows that retention has removed';
comment on column enrichment.runs.outcomes is
  'Rows by outcome, when retention has removed rows; null: run_rows has all of them';
comment on column enrichment.runs.export_profile is 'Rows, malformed rows and filled rows per field of the file';
comment on column enrichment.runs.plan is 'Planned outcomes, people, calls and credits';
comment on column enrichment.runs.plan_hash is 'Hash of the plan that was approved';
comment on column enrichment.runs.expected_plan_hash is 'Hash given by --plan: only this plan may run';
comment on column enrichment.runs.as_of is 'Scheduled time of the run; without a schedule, when the run began';
comment on column enrichment.runs.created_at is 'When the run began';
comment on column enrichment.runs.ingested_at is 'When the file was staged';
comment on column enrichment.runs.approved_at is
  'When the run was approved to spend (with --yes or a schedule: when it began); null: not approved';
comment on column enrichment.runs.match_rate_since is
  'The match rate of the quality gate counts calls answered after this time';
comment on column enrichment.runs.applied_updates is
  'Ids of workflow updates that took effect; Temporal repeats updates after a reset';
comment on column enrichment.runs.cancelled_at is 'When an operator cancelled the run; null: it was not cancelled';
comment on column enrichment.runs.cancelled_reason is 'Why the run was cancelled';
comment on column enrichment.runs.undone_at is 'When the run was undone; null: never';
comment on column enrichment.runs.undone_by is 'Who undid the run';
comment on column enrichment.runs.undone_reason is 'Why the run was undone';
comment on column enrichment.runs.answers_discarded_at is 'When the answers were removed after the undo';
create unique index runs_one_unfinished on enrichment.runs (run_key)
  where status not in ('planned', 'finished', 'cancelled', 'failed');
create index runs_by_time on enrichment.runs (created_at desc);

-- Half of each page stays free for the later outcome, because an update within a page changes no index. Planning
-- 200,000 fresh people takes 3.4 s of processor time instead of 6.1 s, and the table does not get larger.
create table enrichment.run_rows (
  run_id text not null,
  row_number integer not null,
  contact_id text not null,
  outcome text check (outcome in ('enriched', 'not_found', 'identity_mismatch', 'no_identifier', 'duplicate',
    'suppressed', 'fresh', 'in_flight', 'over_budget', 'rejected', 'unknown', 'cancelled', 'malformed')),
  reason text,
  record_row integer,
  is_contested boolean not null default false,
  filled boolean not null default false,
  claimed_by_run_id text,
  claimed_by_row_number integer,
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
  opted_out_of_calls boolean not null default false,
  keys text[] not null,
  identity_hash bytea,
  primary key (run_id, row_number)
) with (fillfactor = 50);
comment on table enrichment.run_rows is
  'One record of the file of a run, with its outcome; `row_results` has the reason for the contact as it is now';
comment on column enrichment.run_rows.raw is
  'Cells as a JSON array in the order of runs.header; text, because jsonb refuses \u0000';
comment on column enrichment.run_rows.opted_out_of_calls is
  'The row or, after planning, any row of the same person opted out: calls request no phone';
comment on column enrichment.run_rows.keys is 'Identity keys, which decide about duplicates, freshness and claims';
comment on column enrichment.run_rows.identity_hash is
  'Hash of the cleared cells of a suppressed row, to see in a later export whether the record has changed';
comment on column enrichment.run_rows.record_row is
  'Other row of the file with this contact, if this row is a `duplicate` of the contact';
comment on column enrichment.run_rows.is_contested is 'Whether the rows with this record id name different people';
comment on column enrichment.run_rows.claimed_by_run_id is 'Run that makes the call for the person of an `in_flight` row';
comment on column enrichment.run_rows.claimed_by_row_number is 'Row that represents the person in that run';
-- The column `run_id` has no statistics in large tables. Statistics would lack a run that began after the last ANALYZE,
-- and PostgreSQL then read all rows of the run for each person of a call. Without them it expects one row in 200.
alter table enrichment.run_rows alter column run_id set statistics 0;
-- Only erasures and answers about suppressed people search rows by key.
create index run_rows_by_key on enrichment.run_rows using gin (keys);
create index run_rows_by_contact on enrichment.run_rows (contact_id);
-- An erasure searches the texts of unreadable rows, which are few.
create index run_rows_unread on enrichment.run_rows (run_id) where keys = '{}' and raw <> '[]';

-- Rows of a run that calls are made for, in the order of the file. Ten rows are a call, a thousand are a page.
create table enrichment_internal.run_people (
  run_id text not null,
  position integer not null,
  row_number integer not null,
  -- Groups of fields that the call leaves out, because they are fresh or the person opted out of calls.
  left_out text[] not null default '{}',
  -- Whether an earlier call found the person; null if there was no earlier call.
  found_before boolean,
  primary key (run_id, position)
);
alter table enrichment_internal.run_people alter column run_id set statistics 0;

-- Claims belong to one service, like lookups, because two runs may look up the same person at two services.
create table enrichment_internal.claims (
  identity_key text not null,
  service text not null,
  run_id text not null,
  row_number integer not null,
  primary key (identity_key, service)
);
alter table enrichment_internal.claims alter column run_id set statistics 0;
create index claims_by_run on enrichment_internal.claims (run_id, row_number);
