create table enrichment.budgets (
  budget_id text primary key,
  credits_limit numeric(20, 6) check (credits_limit >= 0),
  reserved numeric(20, 6) not null default 0 check (reserved >= 0),
  settled numeric(20, 6) not null default 0 check (settled >= 0),
  set_by_command boolean not null default false
);
comment on table enrichment.budgets is 'Limit, reserved and settled credits of a run or a period';
comment on column enrichment.budgets.reserved is 'Credits reserved for calls whose cost is not known yet';
comment on column enrichment.budgets.settled is 'Credits spent';
comment on column enrichment.budgets.set_by_command is 'The limit was set by enrich budget set';

-- Credits that a transaction settles when it commits; empty outside of transactions.
-- All calls share the budgets. A row that is locked before the commit stays locked until the client has sent the
-- commit, 10 to 20 ms under load: all workers together could settle only 50 calls a second.
create unlogged table enrichment_internal.settlements (
  budget_ids text[] not null,
  released numeric(20, 6) not null,
  consumed numeric(20, 6) not null
);

create table enrichment.default_budgets (
  period text primary key check (period in ('day', 'month')),
  credits_limit numeric(20, 6) check (credits_limit >= 0)
);
comment on table enrichment.default_budgets is 'Limits of periods that were set by command';

create table enrichment.worker_budgets (
  period text primary key check (period in ('day', 'month')),
  credits_limit numeric(20, 6) check (credits_limit >= 0)
);
comment on table enrichment.worker_budgets is
  'Limits of periods in the settings of the worker that started last; none before the first worker';

create table enrichment.budget_changes (
  change_id bigint generated always as identity primary key,
  changed_at timestamptz not null default clock_timestamp(),
  budget_id text not null,
  old_limit numeric(20, 6),
  new_limit numeric(20, 6),
  changed_by text not null,
  reason text
);
comment on table enrichment.budget_changes is 'One change of a limit';
comment on column enrichment.budget_changes.change_id is 'Key of the change';
comment on column enrichment.budget_changes.old_limit is 'Limit before; null: none';
comment on column enrichment.budget_changes.new_limit is 'Limit afterwards; null: none';
comment on column enrichment.budget_changes.changed_by is 'Who';
create index budget_changes_by_budget on enrichment.budget_changes (budget_id, change_id);

create table enrichment.budget_alarms (
  budget_id text not null,
  percent integer not null check (percent between 1 and 100),
  credits_limit numeric(20, 6) not null,
  used numeric(20, 6) not null,
  crossed_at timestamptz not null default clock_timestamp(),
  primary key (budget_id, percent, credits_limit)
);
comment on table enrichment.budget_alarms is 'One threshold of a limit that was crossed';
comment on column enrichment.budget_alarms.percent is 'Share of the limit that was crossed';
comment on column enrichment.budget_alarms.used is 'Reserved and settled credits at that time';
comment on column enrichment.budget_alarms.crossed_at is 'When the threshold was crossed';

-- Turns reserved into settled credits in every budget of a call, when the transaction commits.
create function enrichment_internal.settle_credits(of_budgets text[], released numeric, consumed numeric)
  returns void language plpgsql as $$
  begin
    insert into enrichment_internal.settlements (budget_ids, released, consumed)
    values (of_budgets, released, consumed);
  end
$$;

-- A transaction sees only its own settlements, because it deletes them before the commit. Locks budgets in ascending
-- order, so that two transactions cannot wait for each other.
create function enrichment_internal.apply_settlements() returns trigger language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  as $$
  declare
    credits jsonb;
  begin
    with due as (delete from enrichment_internal.settlements returning *), each as (
      select budget_id, sum(released) as released, sum(consumed) as consumed
      from due cross join unnest(budget_ids) as budget_id
      group by budget_id
    )
    select jsonb_agg(each) into credits from each;
    perform from enrichment.budgets b
    where b.budget_id = any(array(select value ->> 'budget_id' from jsonb_array_elements(credits)))
    order by b.budget_id for update;
    update enrichment.budgets b
    set reserved = b.reserved - s.released, settled = b.settled + s.consumed
    from jsonb_to_recordset(credits) as s (budget_id text, released numeric, consumed numeric)
    where b.budget_id = s.budget_id;
    return null;
  end
$$;
create constraint trigger settle_at_commit after insert on enrichment_internal.settlements
  deferrable initially deferred for each row execute function enrichment_internal.apply_settlements();

-- The current budgets by the database's clock, with a process's limits by period, such as {"day": "100"}.
create function enrichment_internal.present_budgets(own_limits jsonb)
  returns table (budget_id text, period text, credits_limit numeric) language plpgsql as $$
  begin
    return query
    select to_char(clock_timestamp() at time zone 'UTC', format), p.period::text, (own_limits ->> p.period)::numeric
    from (values ('day', '"day:"YYYY-MM-DD'), ('month', '"month:"YYYY-MM')) as p (period, format);
  end
$$;

-- The limit that an operator has set by command; without one, the lower of the stored and the process's limit.
create function enrichment_internal.budget_limit(budget enrichment.budgets, own_limits jsonb) returns numeric
  language sql immutable as $$
  select case
    when budget.set_by_command then budget.credits_limit
    else least(budget.credits_limit, (own_limits ->> split_part(budget.budget_id, ':', 1))::numeric)
  end
$$;

-- The ids of the budgets of a call, ascending. Creates missing budgets, with the operator's default for the period or
-- else the limit of the worker that started last. Before the first worker, the process's limit counts.
create function enrichment_internal.open_budgets(of_run text, own_limits jsonb) returns text[] language plpgsql as $$
  declare
    budgets text[];
  begin
    with applying as materialized (
      select * from enrichment_internal.present_budgets(own_limits)
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
$$;

-- Locks the budgets in ascending order, so that two admissions cannot wait for each other. Adding up first and
-- inserting later would overspend: with 400 parallel admissions a budget of 1,000 credits came to 1,107.
create function enrichment_internal.reserve_credits(budgets text[], own_limits jsonb, per_person numeric, asked integer,
    alarms_at integer[], out people integer, out short_budget text, out alarms jsonb)
  language plpgsql as $$
  declare
    budget record;
    fits integer;
    locked integer := 0;
  begin
    people := asked;
    for budget in
      select b.budget_id, enrichment_internal.budget_limit(b, own_limits) - b.reserved - b.settled as available
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
      returning b.budget_id, settled + reserved as used,
        enrichment_internal.budget_limit(b, own_limits) as credits_limit
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
$$;

-- A budget that cannot pay for everybody pays for people in the order of the run. Temporal hands the batches of a page
-- out in any order: without this, the credits went to the batch that asked first.
-- Returns the batches, of those that ask, that must wait for people before them on their page. Empty if the budgets can
-- pay for the whole page, or for no person. Locks the budgets in the order of reserve_credits. A batch has 10 people, a
-- page 1,000.
create function enrichment_internal.batches_out_of_turn(of_run text, asking integer[], called_rows integer[],
    per_person numeric, budgets text[], own_limits jsonb)
  returns integer[] language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  as $$
  declare
    last_batch integer := (select max(batch) from unnest(asking) as batch);
    page_start integer := (last_batch - 1) * 10 / 1000 * 1000;
    available numeric;
    first_waiting integer;
  begin
    select min(enrichment_internal.budget_limit(locked, own_limits) - locked.reserved - locked.settled) into available
    from (
      select b.* from enrichment.budgets b where b.budget_id = any(budgets) order by b.budget_id for update
    ) locked;
    if available is null or available < per_person
      or available >= per_person * (last_batch * 10 - page_start) then
      return '{}';
    end if;
    select min(p.position) into first_waiting
    from enrichment_internal.run_people p
    cross join lateral (
      select outcome from enrichment.run_rows where run_id = of_run and row_number = p.row_number offset 0
    ) r
    where p.run_id = of_run and p.position >= page_start and p.position < (last_batch - 1) * 10
      and r.outcome is null
      and p.row_number <> all (called_rows)
      and not exists (
        select from enrichment.attempt_people c
        join enrichment.attempts a on a.attempt_id = c.attempt_id
        where c.run_id = of_run and c.row_number = p.row_number and a.status = 'admitted'
      );
    return array(
      select batch from unnest(asking) as batch where (batch - 1) * 10 > first_waiting
    );
  end
$$;
