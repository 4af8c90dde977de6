-- Unlogged, so that registering writes nothing to the disk. After a crash of the server every batch registers again. No
-- reference to `runs`: it would lock the row of the run for each batch.
create unlogged table enrichment_internal.waiting_batches (
  run_id text not null,
  batch integer not null,
  -- A batch that still waits registers again before.
  waits_until timestamptz not null,
  primary key (run_id, batch)
);

-- An admission is one statement: with 16 statements it spent more time on parsing, planning and round trips than on its
-- work, while it held the locks of the rate scope and the budgets. PL/pgSQL keeps the plans of its statements for a
-- session, SQL functions do not before PostgreSQL 18.

-- The advisory lock of the suppression list.
create function enrichment_internal.suppressions_lock() returns bigint
  language sql immutable parallel safe
  return 7305902312;

-- Returns whether the list has entries. Must come first in a transaction: a change of the list waits for all holders of
-- this lock. The list is read after the lock, so that it includes a change that the lock waited for.
create function enrichment_internal.lock_suppressions() returns boolean language plpgsql as $$
  begin
    perform pg_advisory_xact_lock_shared(enrichment_internal.suppressions_lock());
    return exists (select from enrichment.suppression_entries);
  end
$$;

-- The waiting batches of running runs that go before a call of this priority.
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

-- Writes the attempts of admitted calls: an array of {"attempt_id", "batch", "token_hash", "row_numbers", "people"}. A
-- call sends its first rows, as many as "people": the budgets may pay for fewer than all.
create function enrichment_internal.open_attempts(of_run text, calls jsonb, per_person numeric, budgets text[])
  returns void language plpgsql as $$
  begin
    insert into enrichment.attempts (attempt_id, run_id, batch, status, people, credits_reserved, budget_ids,
      token_hash)
    select c.attempt_id, of_run, c.batch, 'admitted', c.people, per_person * c.people, budgets,
      decode(c.token_hash, 'hex')
    from jsonb_to_recordset(calls) as c (attempt_id text, batch integer, people integer, token_hash text);
    insert into enrichment.attempt_people (attempt_id, detail_index, run_id, row_number)
    select c.attempt_id, place - 1, of_run, row_number
    from jsonb_to_recordset(calls) as c (attempt_id text, row_numbers integer[], people integer),
      unnest(c.row_numbers[1:c.people]) with ordinality as asked (row_number, place);
    delete from enrichment_internal.waiting_batches
    where run_id = of_run and batch in (select (value ->> 'batch')::integer from jsonb_array_elements(calls));
  end
$$;

-- Admits calls of a run in one transaction: occupies a slot in every window, reserves the worst case in every budget,
-- writes the attempt. Calls are {"attempt_id", "batch", "token_hash", "row_numbers"}. Returns a decision for each call,
-- in their order; null if the suppression list has entries that the people were not compared with. Every statement
-- reads what was committed before it, also while an earlier statement waited for a lock.
create function enrichment_internal.admit_calls(of_run text, of_priority text, per_person numeric,
    deadline_seconds float8, calls jsonb, of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], alarms_at integer[], suppressions_checked boolean)
  returns jsonb language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  as $$
  declare
    budgets text[];
    asked_rows integer[] := array(
      select row_number
      from jsonb_to_recordset(calls) as c (row_numbers integer[]), unnest(c.row_numbers) as row_number
    );
    open_rows integer[];
    called_rows integer[];
    run_status text;
    kept integer;
    free record;
    asked record;
    fitting integer[] := '{}';
    asked_people integer := 0;
    credits record;
    people integer;
    admitted jsonb := '[]';
    over_budget jsonb;
    decisions jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(calls)]);
  begin
    -- Before any other lock: no transaction can add to the suppression list until the calls are admitted.
    if enrichment_internal.lock_suppressions() and not suppressions_checked then return null; end if;
    budgets := enrichment_internal.open_budgets(of_run);

    -- A worker that has lost Temporal, but not the database, still runs an activity that Temporal has started again
    -- elsewhere. Only the first of the two activities may send the same people.
    open_rows := array(
      select r.row_number
      from (select unnest(asked_rows) as row_number order by 1) n
      cross join lateral (
        select row_number, outcome from enrichment.run_rows
        where run_id = of_run and row_number = n.row_number
        for update
      ) r
      where r.outcome is null
    );
    called_rows := array(
      select p.row_number
      from unnest(asked_rows) as n (row_number)
      cross join lateral (
        select row_number, attempt_id from enrichment.attempt_people
        where run_id = of_run and row_number = n.row_number
        offset 0
      ) p
      join enrichment.attempts a on a.attempt_id = p.attempt_id
      -- The outcomes of a stored answer follow from its digest.
      where a.status = 'admitted'
        or exists (select from enrichment_internal.digest_queue q where q.kind = 'answer' and q.owner = a.attempt_id)
    );

    perform enrichment_internal.lock_endpoint(of_scope);
    select count(*) into kept from enrichment_internal.batches_before(of_priority);
    select * into free
    from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, kept);
    -- Read after waiting for the lock of the endpoint, so that a run that was paused or cancelled meanwhile sends no
    -- call.
    select r.status into run_status from enrichment.runs r where run_id = of_run;

    for asked in
      select place, row_numbers
      from rows from (jsonb_to_recordset(calls) as (batch integer, row_numbers integer[])) with ordinality
        as c (batch, row_numbers, place)
      order by batch, place
    loop
      if not asked.row_numbers <@ open_rows or asked.row_numbers && called_rows then
        decisions[asked.place] := jsonb_build_object('kind', 'taken');
      elsif run_status is distinct from 'running' then
        decisions[asked.place] := jsonb_build_object('kind', 'not_running', 'status', coalesce(run_status, 'missing'));
      elsif free.slots is null or cardinality(fitting) < free.slots then
        fitting := fitting || asked.place::integer;
        called_rows := called_rows || asked.row_numbers;
        asked_people := asked_people + cardinality(asked.row_numbers);
      end if;
    end loop;

    if cardinality(fitting) > 0 then
      select * into credits from enrichment_internal.reserve_credits(budgets, per_person, asked_people, alarms_at);
      if credits.short_budget is not null then
        over_budget := jsonb_build_object('kind', 'over_budget', 'budget', credits.short_budget,
          'alarms', credits.alarms,
          -- A call may still release credits, also after its slot has ended, while its answer is recorded.
          'mayFreeCredits', exists (
            select from enrichment.attempts a
            where a.status = 'admitted' and credits.short_budget = any(a.budget_ids)
              and a.admitted_at > clock_timestamp() - make_interval(secs => deadline_seconds)
          ));
      end if;
      for i in 1..cardinality(fitting) loop
        people := least(credits.people, jsonb_array_length(calls -> fitting[i] - 1 -> 'row_numbers'));
        if people = 0 then
          decisions[fitting[i]] := over_budget;
        else
          credits.people := credits.people - people;
          admitted := admitted || ((calls -> fitting[i] - 1) || jsonb_build_object('people', people));
          decisions[fitting[i]] := jsonb_build_object('kind', 'admitted', 'people', people, 'alarms', credits.alarms);
        end if;
        -- The first call tells the alarms.
        credits.alarms := '[]';
        over_budget := over_budget || '{"alarms": []}';
      end loop;
      perform enrichment_internal.occupy_slots(array(select value ->> 'attempt_id' from jsonb_array_elements(admitted)),
        of_scope, deadline_seconds);
      perform enrichment_internal.open_attempts(of_run, admitted, per_person, budgets);
      if array_position(decisions, null) is not null then
        select * into free
        from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, kept);
      end if;
    end if;
    -- No wait: a call has left the window since the slots were counted.
    return jsonb_agg(
      coalesce(decision, case when free.wait is null then over_budget end, jsonb_build_object('kind', 'wait',
        'wait', coalesce(free.wait, '{"cause": "freed", "milliseconds": 1}')))
      order by place
    ) from unnest(decisions) with ordinality as d (decision, place);
  end
$$;
