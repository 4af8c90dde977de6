-- Batches that wait for admission. The table is unlogged, so that registering writes nothing to the disk; after a crash
-- of the server every batch registers again. A reference to `runs` would lock the row of the run for each batch.
create unlogged table enrichment_internal.waiting_batches (
  run_id text not null,
  batch integer not null,
  -- Before this time, a batch that still waits renews its registration.
  waits_until timestamptz not null,
  primary key (run_id, batch)
);

-- An admission is one statement. With 16 statements, parsing, planning and round trips took longer than the work, and
-- locks on rate scope and budgets were held for all this time. It is PL/pgSQL, because SQL functions keep no plans for
-- a session before PostgreSQL 18.

-- Key of the advisory lock of the suppression list.
create function enrichment_internal.suppressions_lock() returns bigint
  language sql immutable parallel safe
  return 7305902312;

-- Locks the suppression list against changes and returns whether the list has entries. It must be the first lock of a
-- transaction, because a change of the list waits for all holders. The list is read after locking, to include a change
-- that was waited for.
create function enrichment_internal.lock_suppressions() returns boolean language plpgsql as $$
  begin
    perform pg_advisory_xact_lock_shared(enrichment_internal.suppressions_lock());
    return exists (select from enrichment.suppression_entries);
  end
$$;

-- Waiting batches of running runs with priority over a call.
create function enrichment_internal.batches_before(of_priority text) returns setof enrichment_internal.waiting_batches
  language sql stable as $$
  select w.*
  from enrichment_internal.waiting_batches w
  join enrichment.runs r using (run_id)
  where w.waits_until > clock_timestamp()
    and r.status = 'running'
    and array_position(array['ad-hoc', 'nightly', 'backfill'], r.options ->> 'priority')
      < array_position(array['ad-hoc', 'nightly', 'backfill'], of_priority)
$$;

-- Admits calls of a run in one transaction: occupies a slot in every window, reserves the worst case in every budget,
-- and writes the attempts. Calls are [{"place", "attempt_id", "batch", "token_hash", "row_numbers"}]. Returns one row,
-- or none if the suppression list has entries and the people were not compared with it. Every statement sees what was
-- committed before it.
-- - `asked`: places of the calls with people who have no answer and are in no other call.
-- - `admitted`: number of people by place, counted from the first; the budgets may not pay for all.
-- - `wait`: why no further call may begin; null if a slot is free.
-- - `short_budget`: a budget that cannot pay for all people.
create function enrichment_internal.admit_calls(of_run text, of_priority text, per_person numeric,
    deadline_seconds float8, calls jsonb, of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], alarms_at integer[], suppressions_checked boolean)
  returns table (run_status text, asked integer[], admitted jsonb, wait jsonb, short_budget text, alarms jsonb,
    may_free_credits boolean)
  language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  as $$
  declare
    budgets text[];
    kept integer;
    free record;
    asked_people integer;
    affordable_people integer;
    attempt_ids text[];
  begin
    -- This lock comes before any other lock, so that the suppression list cannot grow until the calls are admitted.
    if enrichment_internal.lock_suppressions() and not suppressions_checked then return; end if;
    budgets := enrichment_internal.open_budgets(of_run);

    -- A worker that has lost Temporal can still run an activity that Temporal has started again on another worker. Only
    -- the first call with a row may be sent.
    perform from enrichment.run_rows
    where run_id = of_run and row_number = any(array(
      select unnest(row_numbers) from jsonb_to_recordset(calls) as c (row_numbers integer[])
    ))
    order by row_number
    for update;
    asked := array(
      select n.place
      from (
        select distinct on (row_number) row_number, c.place, cardinality(c.row_numbers) as people
        from jsonb_to_recordset(calls) as c (place integer, row_numbers integer[])
        cross join unnest(c.row_numbers) as row_number
        order by row_number, c.place
      ) n
      cross join lateral (
        select outcome from enrichment.run_rows where run_id = of_run and row_number = n.row_number offset 0
      ) r
      where r.outcome is null and not exists (
        select from (
          select attempt_id from enrichment.attempt_people
          where run_id = of_run and row_number = n.row_number
          offset 0
        ) p
        join enrichment.attempts a on a.attempt_id = p.attempt_id
        where a.status = 'admitted'
          -- Rows of a stored answer get their outcomes only when the answer is digested. Until then no other call is
          -- made for them.
          or exists (select from enrichment_internal.digest_queue q where q.kind = 'answer' and q.owner = a.attempt_id)
      )
      group by n.place, n.people
      having count(*) = n.people
    );

    perform enrichment_internal.lock_endpoint(of_scope);
    select count(*) into kept from enrichment_internal.batches_before(of_priority);
    select * into free from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, kept);
    -- The status is read after locking the endpoint, so that a run that was paused during the wait sends no call.
    select r.status into run_status from enrichment.runs r where run_id = of_run;
    if run_status is distinct from 'running' then free.slots := 0; end if;

    select sum(people) into asked_people
    from (
      select cardinality(c.row_numbers) as people
      from jsonb_to_recordset(calls) as c (place integer, batch integer, row_numbers integer[])
      where c.place = any(asked)
      order by c.batch, c.place
      limit free.slots
    ) c;
    if asked_people > 0 then
      select c.people, c.short_budget, c.alarms into affordable_people, short_budget, alarms
      from enrichment_internal.reserve_credits(budgets, per_person, asked_people, alarms_at) c;
      with paid as materialized (
        select *
        from (
          select c.*,
            least(
              cardinality(c.row_numbers),
              affordable_people - coalesce(sum(cardinality(c.row_numbers)) over earlier, 0)
            )::integer as people
          from jsonb_to_recordset(calls) as c (place integer, attempt_id text, batch integer, token_hash text,
            row_numbers integer[])
          where c.place = any(asked)
          window earlier as (order by c.batch, c.place rows between unbounded preceding and 1 preceding)
          order by c.batch, c.place
          limit free.slots
        ) c
        where people > 0
      ), attempts as (
        insert into enrichment.attempts (attempt_id, run_id, batch, status, people, credits_reserved, budget_ids,
          token_hash)
        select attempt_id, of_run, batch, 'admitted', people, per_person * people, budgets, decode(token_hash, 'hex')
        from paid
      ), attempt_people as (
        insert into enrichment.attempt_people (attempt_id, detail_index, run_id, row_number)
        select paid.attempt_id, r.place - 1, of_run, r.row_number
        from paid
        cross join unnest(paid.row_numbers[1:people]) with ordinality as r (row_number, place)
      ), registered as (
        delete from enrichment_internal.waiting_batches w using paid where w.run_id = of_run and w.batch = paid.batch
      )
      select jsonb_object_agg(place, people), array_agg(attempt_id) into admitted, attempt_ids from paid;
      if attempt_ids is not null then
        perform enrichment_internal.occupy_slots(attempt_ids, of_scope, deadline_seconds);
      end if;
      select * into free from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, kept);
    end if;
    if free.slots = 0 then wait := free.wait; end if;
    may_free_credits := short_budget is not null and exists (
      -- A call that is admitted but has no recorded answer may still release credits, even after its slot has ended.
      select from enrichment.attempts a
      where a.status = 'admitted' and short_budget = any(a.budget_ids)
        and a.admitted_at > clock_timestamp() - make_interval(secs => deadline_seconds)
    );
    return next;
  end
$$;
