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
          select * from enrichment.observations where service = of_service and person_key = p.person_key offset 0
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
      from enrichment.observations o
      where o.observation_id = old.observation_id
        and exists (
          select from enrichment.observations n
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
