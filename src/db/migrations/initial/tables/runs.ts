import { allStatuses, unfinishedText } from '../../../run-states.ts';
import { oneOf } from '../../../one-of.ts';
import { outcomes } from '../../../../domain/runs/outcome.ts';
import { identityCellColumns } from '../identity-cells.ts';

/** Runs, their rows, people, claims and fetched exports; `column-comments` explains the columns. */
export const runTables = [
  `create table enrichment.runs (
    run_id text primary key,
    run_key text not null,
    workflow_id text not null,
    status text not null check (status in (${oneOf(allStatuses)})),
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
    cells_left boolean not null default false,
    rows_left boolean not null default false,
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
    pilot jsonb,
    match_rate_since timestamptz,
    probing_since timestamptz,
    applied_updates text[] not null default '{}',
    cancelled_at timestamptz,
    cancelled_reason text,
    undone_at timestamptz,
    undone_by text,
    undone_reason text,
    answers_discarded_at timestamptz
  )`,
  `create unique index runs_one_unfinished on enrichment.runs (run_key)
    where ${unfinishedText}`,
  `create index runs_by_time on enrichment.runs (created_at desc)`,

  // Half of a page stays free for the outcome, which each row gets later: in the same page, it changes no index.
  // Planning 200,000 fresh people takes 3.4 s of PostgreSQL's processor time; with full pages it took 6.1 s, and the
  // table became as large.
  `create table enrichment.run_rows (
    run_id text not null,
    row_number integer not null,
    contact_id text not null,
    outcome text check (outcome in (${oneOf(outcomes)})),
    reason text,
    record_row integer,
    is_contested boolean not null default false,
    filled boolean not null default false,
    claimed_by_run_id text,
    claimed_by_row_number integer,
    raw text not null,
    ${identityCellColumns},
    opted_out boolean not null default false,
    opted_out_of_calls boolean not null default false,
    keys text[] not null,
    match_keys integer[] not null default '{}',
    identity_hash bytea,
    primary key (run_id, row_number)
  ) with (fillfactor = 50)`,
  // fastupdate off: each search would read the whole pending list, and an answer makes about a hundred searches.
  `create index run_rows_by_match_key on enrichment.run_rows using gin (match_keys) with (fastupdate = off)`,
  `create index run_rows_by_contact on enrichment.run_rows (contact_id)`,
  // An erasure searches the texts of rows that could not be read, which are few.
  `create index run_rows_unread on enrichment.run_rows (run_id) where keys = '{}' and raw <> '[]'`,

  `create table enrichment.run_people (
    run_id text not null,
    position integer not null,
    row_number integer not null,
    left_out text[] not null default '{}',
    found_before boolean,
    primary key (run_id, position)
  )`,

  // By service, as lookups are: two services may be asked for the same person.
  `create table enrichment.claims (
    identity_key text not null,
    service text not null,
    run_id text not null,
    row_number integer not null,
    primary key (identity_key, service)
  )`,
  `create index claims_by_run on enrichment.claims (run_id, row_number)`,

  // Content hash by address and version, so that an unchanged export is not fetched again.
  `create table enrichment.fetched_exports (
    address text primary key,
    etag text not null,
    sha256 text not null
  )`,
];
