import { identityColumns } from '../../../../domain/identity/identity.ts';
import { keptPlans } from '../kept-plans.ts';

/**
 * Appends to the log in one statement: locks the people and contacts, appends, and projects them. Of two rows with one
 * contact id the later row is appended first, so that the earlier row's decision is the newer one.
 */
export const appendToLog = `
create function enrichment.append_to_log(of_service text, of_observations jsonb, of_organizations jsonb,
    of_matches jsonb)
  returns void language plpgsql as $$
  declare
    observed_people text[] := array(
      select distinct value ->> 'person_key' from jsonb_array_elements(of_observations));
    matched_people text[] := array(
      select distinct value ->> 'person_key' from jsonb_array_elements(of_matches)
      where value ->> 'person_key' is not null);
    of_sources text[] := array(select value ->> 'source' from jsonb_array_elements(of_matches));
    of_contacts text[] := array(select value ->> 'contact_id' from jsonb_array_elements(of_matches));
  begin
    perform enrichment.lock_log(
      of_service, observed_people || matched_people, of_sources, of_contacts);
    if exists (
      select from jsonb_to_recordset(of_observations) as s (person_key text, is_new boolean)
      cross join lateral (
        select kind from enrichment.observation_log where service = of_service and person_key = s.person_key offset 0
      ) o
      where s.is_new and o.kind in ('answer', 'reused')
    ) then
      raise exception 'another answer named the same person at the same time' using errcode = '40001';
    end if;

    insert into enrichment.organization_facts (facts_hash, facts)
    select hash, facts from jsonb_to_recordset(of_organizations) as o (hash bytea, facts jsonb)
    order by hash
    on conflict do nothing;
    insert into enrichment.observation_log (service, person_key, person_id, kind, asked_at, run_id, attempt_id,
      delivery_id, organization_key, organization_facts, identity_keys, match_keys, facts)
    select of_service, person_key, person_id, kind, asked_at, run_id, attempt_id,
      delivery_id, organization_key, organization_facts, coalesce(identity_keys, '{}'), coalesce(match_keys, '{}'),
      facts
    from jsonb_to_recordset(of_observations) as s (person_key text, person_id text, kind text, asked_at timestamptz,
      run_id text, attempt_id text, delivery_id text, organization_key text, organization_facts bytea,
      identity_keys text[], match_keys integer[], facts jsonb);

    with decided as materialized (
      select * from jsonb_to_recordset(of_matches) as m (source text, contact_id text, person_key text,
        evidence text, asked boolean, run_id text, attempt_id text, row_number integer,
        match_keys integer[], while_undone text[], decided_at timestamptz)
    ), recorded as (
      insert into enrichment.contact_records (source, contact_id, run_id, row_number, keys,
        ${identityColumns.join(', ')})
      select d.source, d.contact_id, d.run_id, d.row_number, r.keys,
        ${identityColumns.map((column) => `r.${column}`).join(', ')}
      from decided d
      cross join lateral (
        select * from enrichment.run_rows where run_id = d.run_id and row_number = d.row_number offset 0
      ) r
      order by d.source, d.contact_id, d.row_number
      on conflict do nothing
    )
    insert into enrichment.contact_matches (source, contact_id, service, person_key, evidence, asked,
      run_id, attempt_id, row_number, match_keys, while_undone, decided_at)
    select source, contact_id, of_service, person_key, evidence, asked, run_id, attempt_id, row_number,
      match_keys, while_undone, decided_at
    from decided order by row_number desc;

    -- A match does not change a person with one key, so matched_people need no projection.
    perform enrichment.project(of_service, observed_people, of_sources, of_contacts);
  end
$$`;

/** Which people a change of the log affects, and the locks of those who extend the log. */
export const lockLog = [
  // Locks contacts before people and people before companies, each in the order of their keys, so that two writers
  // cannot deadlock. Also locks the person whom a contact was before, so that the change feed has changes in order.
  // By a plan from a small warehouse, a session that goes on for weeks read all contacts for each person.
  `create function enrichment.lock_log(of_service text, of_people text[], of_sources text[], of_contacts text[])
    returns void language plpgsql
    ${keptPlans}
    as $$
    begin
      perform pg_advisory_xact_lock(1, key) from (
        select distinct hashtext(source || ' ' || contact_id) as key
        from unnest(of_sources, of_contacts) as g (source, contact_id) order by key
      ) keys;
      perform pg_advisory_xact_lock(2, key) from (
        select hashtext(of_service || ' ' || person_key) as key
        from unnest(of_people) as person_key
        union
        select hashtext(c.service || ' ' || c.person_key)
        from unnest(of_sources, of_contacts) as g (source, contact_id)
        join enrichment.contacts c on c.source = g.source and c.contact_id = g.contact_id
        order by key
      ) keys;
    end
  $$`,
];

const queued = `on conflict (observation_id) do update set queued_by = excluded.queued_by`;

/**
 * The observations that newer ones may have replaced. Retention compares only these with people and companies: each
 * time, it would otherwise read every old observation, although most people have one, which stays.
 */
export const pruneCandidates = [
  `create table enrichment.prune_candidates (
    observation_id bigint primary key,
    recorded_at timestamptz not null,
    queued_by xid8 not null default pg_current_xact_id()
  )`,
  `create index prune_candidates_by_age on enrichment.prune_candidates (recorded_at, observation_id)`,

  // What is said about a person changes only with the person's observations.
  `create function enrichment.queue_for_prune(of_service text, of_people text[]) returns void language plpgsql as $$
    begin
      insert into enrichment.prune_candidates (observation_id, recorded_at)
      select observation_id, recorded_at
      from (
        select o.observation_id, o.recorded_at, count(*) over (partition by o.person_key) as observations
        from (select distinct unnest(of_people) as person_key) p
        cross join lateral (
          select * from enrichment.observation_log where service = of_service and person_key = p.person_key offset 0
        ) o
      ) said
      where observations > 1
      order by observation_id
      ${queued};
    end
  $$`,

  // The company's values come from another person's observation now. The caller has locked the company.
  `create function enrichment.queue_former_source() returns trigger language plpgsql as $$
    begin
      insert into enrichment.prune_candidates (observation_id, recorded_at)
      select o.observation_id, o.recorded_at
      from enrichment.observation_log o
      where o.observation_id = old.observation_id
        and exists (
          select from enrichment.observation_log n
          where n.service = o.service and n.person_key = o.person_key and n.observation_id <> o.observation_id)
      ${queued};
      return null;
    end
  $$`,
  `create trigger company_has_another_source
    after update of observation_id on enrichment.organization_values
    for each row when (old.observation_id <> new.observation_id)
    execute function enrichment.queue_former_source()`,
];
