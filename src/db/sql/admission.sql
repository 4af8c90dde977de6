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
    open_rows integer[];
    run_status text;
    kept integer;
    free record;
    call record;
    credits record;
    decision jsonb;
    decisions jsonb[];
  begin
    -- Before any other lock: no transaction can add to the suppression list until the calls are admitted.
    if enrichment_internal.lock_suppressions() and not suppressions_checked then return null; end if;
    budgets := enrichment_internal.open_budgets(of_run);

    -- A worker that has lost Temporal, but not the database, still runs an activity that Temporal has started again
    -- elsewhere. Only the first of the two activities may send the same people.
    open_rows := array(
      select r.row_number
      from (
        select unnest(c.row_numbers) as row_number from jsonb_to_recordset(calls) as c (row_numbers integer[]) order by 1
      ) n
      cross join lateral (
        select row_number, outcome from enrichment.run_rows
        where run_id = of_run and row_number = n.row_number
        for update
      ) r
      where r.outcome is null
    );
    open_rows := array(
      select unnest(open_rows)
      except
      select p.row_number
      from unnest(open_rows) as n (row_number)
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
    select * into free from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, kept);
    -- Read after waiting for the lock of the endpoint, so that a run that was paused or cancelled meanwhile sends no
    -- call.
    select r.status into run_status from enrichment.runs r where run_id = of_run;

    for call in
      select *
      from rows from (
        jsonb_to_recordset(calls) as (attempt_id text, batch integer, token_hash text, row_numbers integer[])
      ) with ordinality as c (attempt_id, batch, token_hash, row_numbers, place)
      order by batch, place
    loop
      if not call.row_numbers <@ open_rows then
        decision := jsonb_build_object('kind', 'taken');
      elsif run_status is distinct from 'running' then
        decision := jsonb_build_object('kind', 'not_running', 'status', coalesce(run_status, 'missing'));
      elsif free.slots = 0 then
        decision := jsonb_build_object('kind', 'wait', 'wait', free.wait);
      else
        select * into credits
        from enrichment_internal.reserve_credits(budgets, per_person, cardinality(call.row_numbers), alarms_at);
        if credits.people = 0 then
          decision := jsonb_build_object('kind', 'over_budget', 'budget', credits.short_budget,
            'alarms', credits.alarms,
            -- A call may still release credits, also after its slot has ended, while its answer is recorded.
            'mayFreeCredits', exists (
              select from enrichment.attempts a
              where a.status = 'admitted' and credits.short_budget = any(a.budget_ids)
                and a.admitted_at > clock_timestamp() - make_interval(secs => deadline_seconds)
            ));
        else
          -- The call sends its first rows: the budgets may pay for fewer than all.
          insert into enrichment.attempts (attempt_id, run_id, batch, status, people, credits_reserved, budget_ids,
            token_hash)
          values (call.attempt_id, of_run, call.batch, 'admitted', credits.people, per_person * credits.people, budgets,
            decode(call.token_hash, 'hex'));
          insert into enrichment.attempt_people (attempt_id, detail_index, run_id, row_number)
          select call.attempt_id, place - 1, of_run, row_number
          from unnest(call.row_numbers[1:credits.people]) with ordinality as asked (row_number, place);
          delete from enrichment_internal.waiting_batches where run_id = of_run and batch = call.batch;
          perform enrichment_internal.occupy_slot(call.attempt_id, of_scope, deadline_seconds);
          open_rows := array(select unnest(open_rows) except select unnest(call.row_numbers));
          free.slots := free.slots - 1;
          if free.slots = 0 then
            select * into free
            from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, kept);
          end if;
          decision := jsonb_build_object('kind', 'admitted', 'people', credits.people, 'alarms', credits.alarms);
        end if;
      end if;
      decisions[call.place] := decision;
    end loop;
    return to_jsonb(decisions);
  end
$$;
