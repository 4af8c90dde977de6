import { identityColumns } from '../../../../domain/identity/identity-columns.ts';

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
        select kind from enrichment.observations where service = of_service and person_key = s.person_key offset 0
      ) o
      where s.is_new and o.kind in ('answer', 'reused')
    ) then
      raise exception 'another answer named the same person at the same time' using errcode = '40001';
    end if;

    insert into enrichment.organization_facts (facts_hash, facts)
    select hash, facts from jsonb_to_recordset(of_organizations) as o (hash bytea, facts jsonb)
    order by hash
    on conflict do nothing;
    insert into enrichment.observations (service, person_key, person_id, kind, asked_at, run_id, attempt_id,
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
