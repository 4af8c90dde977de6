/**
 * The last lookup of each identity key at each service: while the lookup is fresh, no run pays for the person again.
 * The table grows with every person that a call asks for. To keep a row and its index entry at about 120 bytes, it has
 * a hash of the key with its service, and a number for the run.
 */
export const lookupHistoryTables = [
  `create table enrichment.lookup_runs (
    lookup_run integer generated always as identity primary key,
    run_id text not null unique,
    service text not null
  )`,
  `create table enrichment.lookup_history (
    asked_at timestamptz not null,
    lookup_run integer not null,
    key_hash uuid not null,
    field_group text not null,
    -- Misses have their own freshness. Null: the service returned somebody whom the row did not accept, which was paid
    -- for and has the freshness of a miss.
    found boolean,
    primary key (key_hash, field_group)
  )`,
  // Of the service as well: each service has lookups of its own. Stable, because PostgreSQL inlines no immutable
  // function that depends on the database's encoding.
  `create function enrichment.key_hash(identity_key text, of_service text) returns uuid
    language sql stable strict parallel safe
    return encode(substr(sha256(convert_to(identity_key || ' at ' || of_service, 'UTF8')), 1, 16), 'hex')::uuid`,
  // The number of a run in lookup_history; numbers a new run.
  `create function enrichment.number_lookup_run(of_run text, of_service text) returns integer language plpgsql as $$
    declare
      number integer;
    begin
      select lookup_run into number from enrichment.lookup_runs where run_id = of_run;
      if number is null then
        insert into enrichment.lookup_runs as l (run_id, service) values (of_run, of_service)
        on conflict (run_id) do update set service = l.service
        returning lookup_run into number;
      end if;
      return number;
    end
  $$`,
];
