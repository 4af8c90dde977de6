import { budgetPeriods, periodNames } from '../../../domain/money/budget-periods.ts';
import { unlimitedCalls } from '../../../domain/rates/rate-limit.ts';
import { runPriorities } from '../../../contract.ts';
import { oneOf } from '../../one-of.ts';
import { suppressionsLock } from '../../suppressions-lock.ts';

/** The periods with the formats of their budgets' names. */
const periodFormats = periodNames
  .map((period) => `('${period}', '"${period}:"${budgetPeriods[period].format}')`)
  .join(', ');

/** Interval of trying again: the end of a wait for higher priorities in the service's window is unknown. */
const keptInServiceWindowMilliseconds = 5_000;

/** Time until an answer in flight reports the calls that are left. */
const whileInFlightMilliseconds = 250;

/**
 * Functions of the ledger that decide whether a call may be sent. An admission is one statement: with 16 statements it
 * spent more time on parsing, planning and round trips than on its work, while it held the locks of the rate scope and
 * the budgets. PL/pgSQL keeps the plans of its statements for a session, SQL functions do not before PostgreSQL 18.
 */
export const admissionFunctions = [
  // Must come first in a transaction: a change of the list waits for all holders of this lock. The answer is read after
  // the lock, so that an entry of a transaction that was waited for counts.
  `create function enrichment.lock_suppressions() returns boolean language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${suppressionsLock});
      return exists (select from enrichment.suppression_entries);
    end
  $$`,

  // Batches that go before a call of this priority: those of higher priority that wait in running runs.
  `create function enrichment.batches_before(of_priority text) returns setof enrichment.waiting_batches
    language sql stable as $$
    select w.*
    from enrichment.waiting_batches w
    join enrichment.runs r using (run_id)
    where w.waits_until > clock_timestamp()
      and r.status = 'running'
      and array_position(array[${oneOf(runPriorities)}], r.options ->> 'priority')
        < array_position(array[${oneOf(runPriorities)}], of_priority)
  $$`,

  // The present budgets by the database's clock, with the limits of a process by period, such as {"day": "100"}.
  `create function enrichment.present_budgets(own_limits jsonb)
    returns table (budget_id text, period text, credits_limit numeric) language plpgsql as $$
    begin
      return query
      select to_char(clock_timestamp() at time zone 'UTC', format), p.period::text, (own_limits ->> p.period)::numeric
      from (values ${periodFormats}) as p (period, format);
    end
  $$`,

  // A limit that an operator has set by command counts alone; otherwise the lower of the stored and the own one.
  `create function enrichment.budget_limit(budget enrichment.budgets, own_limits jsonb) returns numeric
    language sql immutable as $$
    select case
      when budget.set_by_command then budget.credits_limit
      else least(budget.credits_limit, (own_limits ->> split_part(budget.budget_id, ':', 1))::numeric)
    end
  $$`,

  // The ids of the budgets of a call, ascending. Creates those that are missing: with the default that an operator has
  // set for the period, or else the own limit.
  `create function enrichment.open_budgets(of_run text, own_limits jsonb) returns text[] language plpgsql as $$
    declare
      budgets text[];
    begin
      with applying as materialized (
        select * from enrichment.present_budgets(own_limits)
        union all
        select 'run:' || of_run, null, null where of_run is not null
      ), added as (
        insert into enrichment.budgets (budget_id, credits_limit, set_by_command)
        select a.budget_id,
          case when d.period is null then a.credits_limit else d.credits_limit end,
          d.period is not null
        from applying a
        left join enrichment.default_budgets d using (period)
        where not exists (select from enrichment.budgets b where b.budget_id = a.budget_id)
        order by a.budget_id
        on conflict do nothing
      )
      select array_agg(a.budget_id order by a.budget_id) into budgets from applying a;
      return budgets;
    end
  $$`,

  // Locks the budgets in ascending order, so that two admissions cannot wait for each other. Adding up first and
  // inserting later would overspend: with 400 parallel admissions a budget of 1,000 credits came to 1,107.
  `create function enrichment.reserve_credits(budgets text[], own_limits jsonb, per_person numeric, asked integer,
      alarms_at integer[], out people integer, out short_budget text, out alarms jsonb)
    language plpgsql as $$
    declare
      budget record;
      fits integer;
      locked integer := 0;
    begin
      people := asked;
      for budget in
        select b.budget_id, enrichment.budget_limit(b, own_limits) - b.reserved - b.settled as available
        from enrichment.budgets b where b.budget_id = any(budgets)
        order by b.budget_id for update
      loop
        locked := locked + 1;
        fits := case
          when budget.available is null or per_person = 0 then asked
          else greatest(0, least(asked, div(budget.available, per_person)))
        end;
        if fits < people then
          people := fits;
          short_budget := budget.budget_id;
        end if;
      end loop;
      if locked <> cardinality(budgets) then raise exception 'a budget of an admission does not exist'; end if;
      with spending as (
        update enrichment.budgets b set reserved = reserved + per_person * people
        where b.budget_id = any(budgets)
        returning b.budget_id, settled + reserved as used, enrichment.budget_limit(b, own_limits) as credits_limit
      ), crossed as (
        insert into enrichment.budget_alarms as a (budget_id, percent, credits_limit, used)
        select s.budget_id, percent, s.credits_limit, s.used
        from spending s, unnest(alarms_at) as percent
        where s.credits_limit > 0
          and (s.used * 100 >= percent * s.credits_limit or (percent = 100 and s.budget_id = short_budget))
        on conflict do nothing
        returning a.budget_id, a.percent, a.credits_limit, a.used
      )
      select coalesce(jsonb_agg(jsonb_build_object(
        'budgetId', c.budget_id,
        'percent', c.percent,
        'limit', trim_scale(c.credits_limit)::text,
        'used', trim_scale(c.used)::text)), '[]')
      into alarms from crossed c;
    end
  $$`,

  // The windows that the service has reported. Calls in flight reduce the free calls, because the service may not have
  // counted them when it reported. An expired report counts as an empty window.
  `create function enrichment.service_windows(of_service text, of_scope text)
    returns table (calls integer, seconds integer, free integer, milliseconds float8)
    language plpgsql as $$
    begin
      return query
      select known.calls_limit, known.seconds, greatest(0, left_now - in_flight)::int,
        case
          when left_now > 0 then ${whileInFlightMilliseconds}
          else extract(epoch from believed_until - clock_timestamp()) * 1000
        end::float8
      from (
        select r.*,
          case when r.believed_until > clock_timestamp() then r.calls_left else r.calls_limit end as left_now,
          (
            select count(*) from enrichment.rate_calls c
            where c.scope = r.scope and c.counted_until > clock_timestamp()
          ) as in_flight
        from enrichment.rate_reports r where r.service = of_service and r.scope = of_scope
      ) as known
      where left_now < ${unlimitedCalls}
      order by known.seconds;
    end
  $$`,

  // The full window that a call waits for longest, as {"cause", "calls", "seconds", "milliseconds"}; null if every
  // window has more free slots than are kept. A window is free again when the slot of its limit-th newest call is. A
  // call in flight cannot end before now. If a window has fewer slots than are kept, the wait is one window.
  `create function enrichment.full_window(of_service text, of_scope text, limit_calls integer[],
      limit_seconds integer[], kept integer)
    returns jsonb language plpgsql as $$
    begin
      return (
        select to_jsonb(w) from (
          select 'window' as cause, l.calls, l.seconds, case
              when l.calls <= kept then l.seconds * 1000
              else extract(epoch from least(c.counted_until, clock_timestamp()) + make_interval(secs => l.seconds)
                - clock_timestamp()) * 1000
            end::float8 as milliseconds
          from unnest(limit_calls, limit_seconds) as l (calls, seconds)
          left join lateral (
            select counted_until from enrichment.rate_calls
            where scope = of_scope and counted_until > clock_timestamp() - make_interval(secs => l.seconds)
            order by counted_until desc offset greatest(0, l.calls - kept - 1) limit 1
          ) c on l.calls > kept
          where l.calls <= kept or c.counted_until is not null
          union all
          select case when s.free > 0 then 'service-kept' else 'service' end, s.calls, s.seconds,
            case when s.free > 0 then ${keptInServiceWindowMilliseconds} else s.milliseconds end
          from enrichment.service_windows(of_service, of_scope) s
          where s.free <= kept
          order by milliseconds desc
          limit 1
        ) w
      );
    end
  $$`,

  // Locks an endpoint for one admission at a time. Returns why a call must wait, or null. After a refusal, one call at
  // a time probes.
  `create function enrichment.wait_for_slot(of_service text, of_scope text, limit_calls integer[],
      limit_seconds integer[], kept integer)
    returns jsonb language plpgsql as $$
    declare
      endpoint enrichment.rate_scopes;
    begin
      select * into endpoint from enrichment.rate_scopes where scope = of_scope for update;
      if not found then
        insert into enrichment.rate_scopes (scope) values (of_scope) on conflict do nothing;
        select * into endpoint from enrichment.rate_scopes where scope = of_scope for update;
      end if;
      if endpoint.paused_until > clock_timestamp() then
        return jsonb_build_object('cause', 'paused', 'reason', endpoint.pause_reason,
          'milliseconds', extract(epoch from endpoint.paused_until - clock_timestamp()) * 1000);
      end if;
      if endpoint.refusals > 0 and exists (
        select from enrichment.rate_calls where scope = of_scope and counted_until > clock_timestamp()
      ) then
        return jsonb_build_object('cause', 'probing', 'milliseconds', 250);
      end if;
      return enrichment.full_window(of_service, of_scope, limit_calls, limit_seconds, kept);
    end
  $$`,

  // Occupies a slot of every window, and deletes two calls that have left every window: so the table does not grow,
  // however long a run takes. A day is kept, because another process can have a longer window.
  `create function enrichment.occupy_slot(of_call text, of_scope text, deadline_seconds float8, limit_seconds integer[])
    returns void language plpgsql as $$
    begin
      insert into enrichment.rate_calls (call_id, scope, counted_until)
      values (of_call, of_scope, clock_timestamp() + make_interval(secs => deadline_seconds));
      delete from enrichment.rate_calls
      where ctid = any(array(
        select ctid
        from enrichment.rate_calls
        where scope = of_scope
          and counted_until < clock_timestamp()
            - make_interval(secs => greatest(86400, (select max(s) from unnest(limit_seconds) as s)))
        order by counted_until
        limit 2
        for update skip locked
      ));
    end
  $$`,

  // Acquires a slot in every window for one call. Returns why it must wait, or null.
  `create function enrichment.acquire_slot(of_service text, of_scope text, limit_calls integer[],
      limit_seconds integer[], of_call text, deadline_seconds float8)
    returns jsonb language plpgsql as $$
    declare
      wait jsonb := enrichment.wait_for_slot(of_service, of_scope, limit_calls, limit_seconds, 0);
    begin
      if wait is null then
        perform enrichment.occupy_slot(of_call, of_scope, deadline_seconds, limit_seconds);
      end if;
      return wait;
    end
  $$`,

  // Admits one call in one transaction: a slot in every window, the worst-case credits in every budget, the attempt.
  // Every statement below reads what was committed before it, also while an earlier one waited for a lock.
  `create function enrichment.admit_call(of_attempt text, of_run text, of_batch integer, of_rows integer[],
      of_priority text, per_person numeric, deadline_seconds float8, token_hash bytea, of_service text, of_scope text,
      limit_calls integer[], limit_seconds integer[], own_limits jsonb, alarms_at integer[],
      suppressions_checked boolean)
    returns jsonb language plpgsql as $$
    declare
      run_status text;
      budgets text[];
      open_rows integer;
      kept integer;
      wait jsonb;
      credits record;
    begin
      -- Before any other lock: no person can be added to the suppression list until the call is admitted.
      if enrichment.lock_suppressions() and not suppressions_checked then
        return jsonb_build_object('kind', 'suppressions_unchecked');
      end if;
      budgets := enrichment.open_budgets(of_run, own_limits);

      -- An activity that Temporal has abandoned may still run, because its worker lost Temporal and not the database.
      -- Only the first of two activities may send the same people.
      perform from enrichment.run_rows r
      where r.run_id = of_run and r.row_number = any(of_rows) and r.outcome is null
      order by r.row_number for update;
      get diagnostics open_rows = row_count;
      if open_rows < cardinality(of_rows) or exists (
        select from enrichment.attempt_people p
        join enrichment.attempts a using (attempt_id)
        where p.run_id = of_run and p.row_number = any(of_rows) and a.status = 'admitted'
      ) then
        return jsonb_build_object('kind', 'taken');
      end if;

      select count(*) into kept from enrichment.batches_before(of_priority);
      wait := enrichment.wait_for_slot(of_service, of_scope, limit_calls, limit_seconds, kept);
      if wait is not null then
        return jsonb_build_object('kind', 'wait', 'wait', wait, 'kept', kept);
      end if;

      -- After the lock of the endpoint, which every admission waits for: a run that was paused or cancelled in the
      -- meantime sends no call.
      select status into run_status from enrichment.runs where run_id = of_run;
      if run_status is distinct from 'running' then
        return jsonb_build_object('kind', 'not_running', 'status', coalesce(run_status, 'missing'));
      end if;

      select * into credits
      from enrichment.reserve_credits(budgets, own_limits, per_person, cardinality(of_rows), alarms_at);
      if credits.people = 0 then
        return jsonb_build_object('kind', 'over_budget', 'budget', credits.short_budget, 'alarms', credits.alarms,
          -- A call in flight may still release credits.
          'mayFreeCredits', exists (
            select from enrichment.attempts a
            join enrichment.rate_calls c on c.call_id = a.attempt_id
            where a.status = 'admitted' and credits.short_budget = any(a.budget_ids)
              and c.counted_until > clock_timestamp()
          ));
      end if;

      perform enrichment.occupy_slot(of_attempt, of_scope, deadline_seconds, limit_seconds);
      delete from enrichment.waiting_batches where run_id = of_run and batch = of_batch;
      insert into enrichment.attempts (attempt_id, run_id, batch, status, people, credits_reserved, budget_ids,
        token_hash)
      values (of_attempt, of_run, of_batch, 'admitted', credits.people, per_person * credits.people, budgets,
        admit_call.token_hash);
      insert into enrichment.attempt_people (attempt_id, detail_index, run_id, row_number)
      select of_attempt, place - 1, of_run, row_number
      from unnest(of_rows[1:credits.people]) with ordinality as asked (row_number, place);
      return jsonb_build_object('kind', 'admitted', 'people', credits.people, 'alarms', credits.alarms);
    end
  $$`,
];
