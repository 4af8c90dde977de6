-- The last lookup of each identity key at each service: while the lookup is fresh, no run pays for the person again.
-- The table grows with every person that a call asks for. To keep a row and its index entry at about 120 bytes, it has
-- a hash of the key with its service, and a number for the run.
create table enrichment_internal.lookup_runs (
  lookup_run integer generated always as identity primary key,
  run_id text not null unique,
  service text not null
);

create table enrichment_internal.lookup_history (
  asked_at timestamptz not null,
  lookup_run integer not null,
  key_hash uuid not null,
  field_group text not null,
  -- Misses have their own freshness. Null: the service returned somebody whom the row did not accept, which was paid
  -- for and has the freshness of a miss.
  found boolean,
  primary key (key_hash, field_group)
);

-- Of the service as well: each service has lookups of its own. Stable, because PostgreSQL inlines no immutable function
-- that depends on the database's encoding.
create function enrichment_internal.key_hash(identity_key text, of_service text) returns uuid
  language sql stable strict parallel safe
  return encode(substr(sha256(convert_to(identity_key || ' at ' || of_service, 'UTF8')), 1, 16), 'hex')::uuid;

-- The number of a run in lookup_history; numbers a new run.
create function enrichment_internal.number_lookup_run(of_run text, of_service text) returns integer
  language plpgsql as $$
  declare
    number integer;
  begin
    select lookup_run into number from enrichment_internal.lookup_runs where run_id = of_run;
    if number is null then
      insert into enrichment_internal.lookup_runs as l (run_id, service) values (of_run, of_service)
      on conflict (run_id) do update set service = l.service
      returning lookup_run into number;
    end if;
    return number;
  end
$$;

-- Records a lookup under every key of a row that counts as asked for, and of its person. `learned` has the keys of
-- people with their rows. A key without a row is of a person in the answer who fits no row, and was paid for as well.
-- Keys are written in order, so that two writers cannot deadlock. An earlier lookup never replaces a later one.
create function enrichment_internal.record_lookup(of_service text, of_run text, of_time timestamptz, answered jsonb,
    learned jsonb, field_groups text[])
  returns void language plpgsql as $$
  declare
    number integer := enrichment_internal.number_lookup_run(of_run, of_service);
  begin
    insert into enrichment_internal.lookup_history as m (key_hash, field_group, found, asked_at, lookup_run)
    select distinct on (k.key_hash, g.field_group) k.key_hash, g.field_group,
      case when a.outcome is distinct from 'identity_mismatch' then coalesce(a.outcome = 'enriched', true) end,
      of_time, number
    from unnest(field_groups) as g (field_group)
    cross join (
      select enrichment_internal.key_hash(key, of_service) as key_hash, r.row_number
      from jsonb_to_recordset(answered) as a (row_number integer, is_lookup boolean)
      cross join lateral (
        select * from enrichment.run_rows where run_id = of_run and row_number = a.row_number offset 0
      ) r
      cross join unnest(r.keys) as key
      where a.is_lookup
      union
      select enrichment_internal.key_hash(l.identity_key, of_service), l.row_number
      from jsonb_to_recordset(learned) as l (identity_key text, row_number integer)
    ) k
    left join jsonb_to_recordset(answered) as a (row_number integer, outcome text) on a.row_number = k.row_number
    order by k.key_hash, g.field_group, a.outcome = 'enriched' desc nulls last
    on conflict (key_hash, field_group) do update
    set found = excluded.found, asked_at = excluded.asked_at, lookup_run = excluded.lookup_run
    where m.asked_at <= excluded.asked_at;
  end
$$;
