import { deliveryKindNames } from '../../../../domain/late-results/delivery-kinds.ts';
import { oneOf } from '../../../one-of.ts';
import { identityCellColumns } from '../identity-cells.ts';

/** The log of observations of people and decisions about contacts; `column-comments` explains the columns. */
export const peopleLog = [
  `create table enrichment.organization_facts (
    facts_hash bytea primary key,
    facts jsonb not null
  )`,

  `create table enrichment.observation_log (
    observation_id bigint generated always as identity primary key,
    service text not null,
    -- person: with the id of the service; without an id row: with the row that got the person, or seen: with a hash.
    person_key text not null,
    person_id text,
    kind text not null check (kind in (${oneOf(['answer', ...deliveryKindNames, 'reused'])})),
    -- Of a reused observation: of its origin, as attempt_id is.
    asked_at timestamptz not null,
    recorded_at timestamptz not null default clock_timestamp(),
    run_id text not null,
    attempt_id text not null,
    delivery_id text,
    origin_observation_id bigint check ((kind = 'reused') = (origin_observation_id is not null)),
    -- id:…, domain:… or name:….
    organization_key text,
    organization_facts bytea,
    identity_keys text[] not null default '{}',
    match_keys integer[] not null default '{}',
    facts jsonb not null
  )`,
  // The service comes last, here and in the keys of projections. Without statistics, in a new warehouse, PostgreSQL
  // expects few entries of a service, and would read all of them by an index that begins with the service.
  `create index observations_by_person on enrichment.observation_log (person_key, service, observation_id)`,
  `create index observations_by_organization
    on enrichment.observation_log (organization_key, service, asked_at desc, observation_id desc)
    where organization_key is not null`,
  `create index observations_by_run on enrichment.observation_log (run_id, observation_id)`,
  // fastupdate off: each lookup would read the whole pending list.
  `create index observations_by_key on enrichment.observation_log using gin (identity_keys) with (fastupdate = off)`,
  `create index observations_by_match_key on enrichment.observation_log using gin (match_keys) with (fastupdate = off)`,
  // A subquery, so that a query that does not select the employer does not read it.
  `create view enrichment.observations as
    select o.*,
      (select f.facts from enrichment.organization_facts f where f.facts_hash = o.organization_facts) as organization
    from enrichment.observation_log o`,

  `create table enrichment.contact_records (
    source text not null,
    contact_id text not null,
    run_id text not null,
    row_number integer not null,
    recorded_at timestamptz not null default clock_timestamp(),
    ${identityCellColumns},
    keys text[] not null,
    -- The outcome of the row, when retention has removed the row.
    outcome text,
    primary key (source, contact_id, run_id)
  )`,
  `create index contact_records_by_run on enrichment.contact_records (run_id, row_number)`,
  `create index contact_records_by_key on enrichment.contact_records using gin (keys) with (fastupdate = off)`,

  `create table enrichment.contact_matches (
    match_id bigint generated always as identity primary key,
    source text not null,
    contact_id text not null,
    service text not null,
    person_key text,
    evidence text not null,
    asked boolean not null,
    run_id text not null,
    attempt_id text,
    -- 0: a row of another contact led to the decision.
    row_number integer not null,
    match_keys integer[],
    while_undone text[],
    decided_at timestamptz not null,
    recorded_at timestamptz not null default clock_timestamp()
  )`,
  `create index contact_matches_by_contact on enrichment.contact_matches (source, contact_id, decided_at, match_id)`,
  `create index contact_matches_by_person on enrichment.contact_matches (person_key, service)
    where person_key is not null`,
  `create index contact_matches_by_key on enrichment.contact_matches using gin (match_keys) with (fastupdate = off)
    where match_keys is not null`,
  `create index contact_matches_by_run on enrichment.contact_matches (run_id, match_id)`,
  `create index contact_matches_by_undone on enrichment.contact_matches using gin (while_undone)
    with (fastupdate = off) where while_undone is not null`,

  // Every projection looks for undone runs, which are few.
  `create index runs_undone on enrichment.runs (run_id) where undone_at is not null`,
];
