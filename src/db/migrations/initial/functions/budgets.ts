import { budgetPeriods, periodNames } from '../../../../domain/money/budget-periods.ts';

/** The periods with the formats of their budgets' names. */
const periodFormats = periodNames
  .map((period) => `('${period}', '"${period}:"${budgetPeriods[period].format}')`)
  .join(', ');

/** Functions of the ledger that open the budgets of a call and reserve its credits. */
export const budgetFunctions = [
  // The current budgets by the database's clock, with a process's limits by period, such as {"day": "100"}.
  `create function enrichment.present_budgets(own_limits jsonb)
    returns table (budget_id text, period text, credits_limit numeric) language plpgsql as $$
    begin
      return query
      select to_char(clock_timestamp() at time zone 'UTC', format), p.period::text, (own_limits ->> p.period)::numeric
      from (values ${periodFormats}) as p (period, format);
    end
  $$`,

  // The limit that an operator has set by command; without one, the lower of the stored and the process's limit.
  `create function enrichment.budget_limit(budget enrichment.budgets, own_limits jsonb) returns numeric
    language sql immutable as $$
    select case
      when budget.set_by_command then budget.credits_limit
      else least(budget.credits_limit, (own_limits ->> split_part(budget.budget_id, ':', 1))::numeric)
    end
  $$`,

  // The ids of the budgets of a call, ascending. Creates missing budgets, with the operator's default for the period or
  // else the limit of the worker that started last. Before the first worker, the process's limit counts.
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
          case
            when d.period is not null then d.credits_limit
            when w.period is not null then w.credits_limit
            else a.credits_limit
          end,
          d.period is not null
        from applying a
        left join enrichment.default_budgets d using (period)
        left join enrichment.worker_budgets w using (period)
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
        -- Only the highest threshold, and only if no equal or higher one was crossed before.
        select s.budget_id, max(threshold.percent), s.credits_limit, s.used
        from spending s, unnest(alarms_at) as threshold (percent)
        where s.credits_limit > 0
          and (s.used * 100 >= percent * s.credits_limit or (percent = 100 and s.budget_id = short_budget))
        group by s.budget_id, s.credits_limit, s.used
        having not exists (
          select from enrichment.budget_alarms earlier
          where earlier.budget_id = s.budget_id and earlier.credits_limit = s.credits_limit
            and earlier.percent >= max(threshold.percent)
        )
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
];
