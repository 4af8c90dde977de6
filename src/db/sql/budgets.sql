create table enrichment.budgets (
  budget_id text primary key,
  credits_limit numeric(20, 6) check (credits_limit >= 0),
  reserved numeric(20, 6) not null default 0 check (reserved >= 0),
  settled numeric(20, 6) not null default 0 check (settled >= 0),
  set_by_command boolean not null default false
);
comment on table enrichment.budgets is 'Limit, reserved and settled credits of a run or a period';
comment on column enrichment.budgets.reserved is 'Credits reserved for calls without a final cost';
comment on column enrichment.budgets.settled is 'Credits spent';
comment on column enrichment.budgets.set_by_command is 'The limit was set by enrich budget set';

create table enrichment.worker_budgets (
  period text primary key check (period in ('day', 'month')),
  credits_limit numeric(20, 6) check (credits_limit >= 0)
);
comment on table enrichment.worker_budgets is
  'Day and month limits in the settings of the worker that started last; empty before the first worker';

create table enrichment.budget_changes (
  change_id bigint generated always as identity primary key,
  changed_at timestamptz not null default clock_timestamp(),
  budget_id text not null,
  old_limit numeric(20, 6),
  new_limit numeric(20, 6),
  changed_by text not null,
  reason text
);
comment on table enrichment.budget_changes is 'One change of a budget limit';
comment on column enrichment.budget_changes.change_id is 'Key of the change';
comment on column enrichment.budget_changes.old_limit is 'Limit before the change; null: no limit';
comment on column enrichment.budget_changes.new_limit is 'Limit after the change; null: no limit';
comment on column enrichment.budget_changes.changed_by is 'Who made the change';
create index budget_changes_by_budget on enrichment.budget_changes (budget_id, change_id);

create table enrichment.budget_alarms (
  budget_id text not null,
  percent integer not null check (percent between 1 and 100),
  credits_limit numeric(20, 6) not null,
  used numeric(20, 6) not null,
  crossed_at timestamptz not null default clock_timestamp(),
  primary key (budget_id, percent, credits_limit)
);
comment on table enrichment.budget_alarms is 'One crossed threshold of a budget limit';
comment on column enrichment.budget_alarms.percent is 'Crossed threshold in percent of the limit';
comment on column enrichment.budget_alarms.used is 'Reserved and settled credits at that time';
comment on column enrichment.budget_alarms.crossed_at is 'When the threshold was crossed';

-- Turns reserved into settled credits in every budget of a call. Locks the budgets in ascending order, so that two
-- transactions cannot wait for each other.
create function enrichment_internal.settle_credits(of_budgets text[], released numeric, consumed numeric)
  returns void language plpgsql as $$
  begin
    perform from enrichment.budgets where budget_id = any(of_budgets) order by budget_id for update;
    update enrichment.budgets set reserved = reserved - released, settled = settled + consumed
    where budget_id = any(of_budgets);
  end
$$;

-- The budgets of the current day and month, by the database's clock.
create function enrichment_internal.present_budgets() returns table (budget_id text, period text)
  language sql stable as $$
  select to_char(clock_timestamp() at time zone 'UTC', format), period
  from (values ('day', '"day:"YYYY-MM-DD'), ('month', '"month:"YYYY-MM')) as p (period, format)
$$;

-- Returns the ids of the budgets of a call in ascending order. Creates missing budgets of days and months with the
-- limit of the worker that started last.
create function enrichment_internal.open_budgets(of_run text) returns text[] language plpgsql as $$
  declare
    budgets text[];
  begin
    with applying as materialized (
      select * from enrichment_internal.present_budgets()
      union all
      select 'run:' || of_run, null where of_run is not null
    ), added as (
      insert into enrichment.budgets (budget_id, credits_limit)
      select a.budget_id, w.credits_limit
      from applying a
      left join enrichment.worker_budgets w using (period)
      where not exists (select from enrichment.budgets b where b.budget_id = a.budget_id)
      order by a.budget_id
      on conflict do nothing
    )
    select array_agg(a.budget_id order by a.budget_id) into budgets from applying a;
    return budgets;
  end
$$;

-- Reserves the worst case for as many people as every budget can pay for. Locks the budgets in ascending order. Without
-- these locks, 400 parallel admissions reserved 1,107 credits in a budget of 1,000.
create function enrichment_internal.reserve_credits(budgets text[], per_person numeric, asked integer,
    alarms_at integer[], out people integer, out short_budget text, out alarms jsonb)
  language plpgsql as $$
  declare
    locked integer;
  begin
    with affordable as materialized (
      select b.budget_id, case
        when b.credits_limit is null or per_person = 0 then asked
        else greatest(0, least(asked, div(b.credits_limit - b.reserved - b.settled, per_person)))
      end as fits
      from enrichment.budgets b where b.budget_id = any(budgets)
      order by b.budget_id for update
    )
    select min(fits), (array_agg(budget_id order by fits, budget_id) filter (where fits < asked))[1], count(*)
    into people, short_budget, locked from affordable;
    if locked <> cardinality(budgets) then raise exception 'a budget of an admission does not exist'; end if;
    with spending as (
      update enrichment.budgets b set reserved = b.reserved + per_person * people
      where b.budget_id = any(budgets)
      returning b.budget_id, b.settled + b.reserved as used, b.credits_limit
    ), crossed as (
      insert into enrichment.budget_alarms as a (budget_id, percent, credits_limit, used)
      -- An alarm is raised only for the highest crossed threshold, and only if no equal or higher threshold was crossed
      -- before.
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
$$;
