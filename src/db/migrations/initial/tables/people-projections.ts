import { personColumns } from '../../../../domain/warehouse/person-columns.ts';
import { isList, organizationColumns } from '../organization-columns.ts';
import { textsOf } from '../texts-of.ts';

const columns = personColumns.map(({ name, type }) => `${name} ${type}`);
const contactColumns = personColumns.filter(({ inContacts }) => inContacts).map(({ name }) => name);

/** Tables computed from the facts, which only the digest writes; `column-comments` explains the columns. */
export const peopleProjections = [
  `create table enrichment.people (
    service text not null,
    person_key text not null,
    ${columns.join(',\n    ')},
    organization_key text,
    emails jsonb not null,
    phones jsonb not null,
    employment jsonb not null,
    said_by jsonb not null,
    valid_from jsonb not null,
    enriched_at timestamptz not null,
    run_id text not null,
    attempt_id text not null,
    primary key (person_key, service)
  )`,
  `create index people_by_organization on enrichment.people (organization_domain)
    where organization_domain is not null`,
  `comment on column enrichment.people.said_by is
    'The observation of each group of fields that has a value'`,
  `comment on column enrichment.people.valid_from is
    'When each group of fields got its value, as an object of times'`,

  `create table enrichment.organization_values (
    service text not null,
    organization_key text not null,
    ${organizationColumns
      .filter((column) => !isList(column))
      .map(({ name, type }) => `${name} ${type}`)
      .join(',\n    ')},
    observation_id bigint not null,
    observed_at timestamptz not null,
    run_id text not null,
    primary key (organization_key, service)
  )`,
  `create index organization_values_by_domain on enrichment.organization_values (domain) where domain is not null`,
  // Lists can be nine tenths of what an answer says about a company, so they are stored once, in the facts. PostgreSQL
  // leaves out the joins for queries without a list.
  `create view enrichment.organizations as
    select v.service, v.organization_key,
      ${organizationColumns
        .map((column) => {
          const { name, member = name } = column;
          return isList(column) ? `${textsOf(`f.facts -> '${member}'`)} as ${name}` : `v.${name}`;
        })
        .join(',\n      ')},
      v.observation_id, v.observed_at, v.run_id
    from enrichment.organization_values v
    left join enrichment.observation_log o on o.observation_id = v.observation_id
    left join enrichment.organization_facts f on f.facts_hash = o.organization_facts`,

  // A closed interval for each earlier value of a group of fields. `people` has the current value and its source.
  `create table enrichment.person_history (
    service text not null,
    person_key text not null,
    field_group text not null,
    valid_from timestamptz not null,
    valid_to timestamptz not null,
    value jsonb not null,
    observation_id bigint not null,
    primary key (person_key, service, field_group, valid_from)
  )`,

  `create table enrichment.contact_matches (
    match_id bigint generated always as identity primary key,
    source text not null,
    contact_id text not null,
    service text not null,
    person_key text not null,
    evidence text not null,
    -- Whether a call for the contact found the person.
    asked boolean not null,
    run_id text not null,
    row_number integer not null,
    attempt_id text,
    valid_from timestamptz not null default clock_timestamp(),
    -- Null: the contact is this person.
    valid_to timestamptz,
    ended_reason text
  )`,
  `create unique index contact_matches_open on enrichment.contact_matches (source, contact_id) where valid_to is null`,
  `create index contact_matches_by_contact on enrichment.contact_matches (source, contact_id, match_id)`,
  `create index contact_matches_by_person on enrichment.contact_matches (person_key, service)`,
  `create index contact_matches_by_run on enrichment.contact_matches (run_id, row_number)`,
  `create view enrichment.contacts as
    select source, contact_id, service, person_key, match_id, evidence, asked, run_id, row_number
    from enrichment.contact_matches
    where valid_to is null`,

  `create table enrichment.changes (
    change_id bigint generated always as identity primary key,
    operation text not null check (operation in ('upsert', 'delete')),
    source text not null,
    contact_id text not null,
    field_groups text[] not null,
    changed_at timestamptz not null default clock_timestamp()
  )`,
  `create index changes_by_contact on enrichment.changes (source, contact_id)`,
  `create index changes_by_age on enrichment.changes using brin (changed_at)`,

  `create table enrichment.changes_pruned (
    singleton boolean primary key default true check (singleton),
    pruned_change_id bigint not null
  )`,

  `create view enrichment.enriched_contacts as
    select c.source, c.contact_id,
      ${contactColumns.map((column) => `p.${column}`).join(', ')},
      p.enriched_at, c.run_id, p.attempt_id, c.row_number,
      p.service, p.person_key
    from enrichment.contacts c
    join enrichment.people p on p.service = c.service and p.person_key = c.person_key`,

  `create view enrichment.person_emails as
    select p.service, p.person_key, p.person_id, e.email, e.email_status, e.kind, e.position, e.observation_id
    from enrichment.people p
    cross join lateral jsonb_to_recordset(p.emails)
      as e (email text, email_status text, kind text, position integer, observation_id bigint)`,
  `create view enrichment.person_phones as
    select p.service, p.person_key, p.person_id, n.number, n.e164, n.raw_number, n.type, n.status, n.dnc_status,
      n.confidence, n.position, n.origin, n.asked_at, o.run_id, o.attempt_id, o.delivery_id, n.observation_id, n.rank
    from enrichment.people p
    cross join lateral rows from (
      jsonb_to_recordset(p.phones)
        as (number text, e164 text, raw_number text, type text, status text, dnc_status text, confidence text,
          position integer, origin text, asked_at timestamptz, observation_id bigint)
    ) with ordinality as n (number, e164, raw_number, type, status, dnc_status, confidence, position, origin,
      asked_at, observation_id, rank)
    join enrichment.observation_log o on o.observation_id = n.observation_id`,
  `create view enrichment.employment_history as
    select p.service, p.person_key, p.person_id, e.position, e.title, e.organization_name, e.organization_id,
      e.started_on, e.ended_on, e.current
    from enrichment.people p
    cross join lateral rows from (
      jsonb_to_recordset(p.employment)
        as (title text, organization_name text, organization_id text, started_on date, ended_on date, current boolean)
    ) with ordinality as e (title, organization_name, organization_id, started_on, ended_on, current, position)`,
];
