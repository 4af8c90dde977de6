create table enrichment.rate_scopes (
  -- Shared by all addresses of the service: two addresses can be the same service.
  scope text primary key,
  paused_until timestamptz,
  pause_reason text,
  -- Above 0, only one call at a time is sent, as a probe.
  refusals integer not null default 0,
  refused_at timestamptz
);
comment on table enrichment.rate_scopes is 'Endpoints whose calls are counted together, and whether their calls wait';
comment on column enrichment.rate_scopes.paused_until is 'No call before this time';
comment on column enrichment.rate_scopes.pause_reason is 'Why calls wait';
comment on column enrichment.rate_scopes.refusals is 'Refusals in a row';
comment on column enrichment.rate_scopes.refused_at is 'When the service last refused';

create table enrichment.rate_calls (
  call_id text primary key,
  scope text not null,
  started_at timestamptz not null default clock_timestamp(),
  counted_until timestamptz not null,
  abandoned boolean not null default false,
  position bigint
);
comment on table enrichment.rate_calls is 'Occupied slots of rate windows';
comment on column enrichment.rate_calls.call_id is 'The call';
comment on column enrichment.rate_calls.counted_until is 'Until when the call occupies a slot';
comment on column enrichment.rate_calls.abandoned is
  'Whether the call ended without an answer, so that the service may still receive it';
comment on column enrichment.rate_calls.position is
  'Number of the call among the ended calls of its endpoint, in the order of their ends';
create index rate_calls_by_end on enrichment.rate_calls (scope, counted_until, position);
create index rate_calls_by_position on enrichment.rate_calls (scope, position, counted_until);

-- The next admission gives the call a new position.
create function enrichment_internal.clear_call_position() returns trigger language plpgsql as $$
  begin
    new.position := null;
    return new;
  end
$$;
create trigger call_ends_at_another_time before update of counted_until on enrichment.rate_calls for each row
  when (old.position is not null and new.counted_until <> old.counted_until)
  execute function enrichment_internal.clear_call_position();

create table enrichment.rate_reports (
  service text not null,
  scope text not null,
  seconds integer not null check (seconds > 0),
  -- The largest integer: unlimited, or not reported.
  calls_limit integer not null check (calls_limit > 0),
  calls_left integer not null check (calls_left >= 0),
  said_at timestamptz not null,
  -- When the window has ended at the latest. Only the limit of the next window is then known.
  believed_until timestamptz not null,
  primary key (service, scope, seconds)
);
comment on table enrichment.rate_reports is 'Rate windows as the service last reported them';
comment on column enrichment.rate_reports.seconds is 'Length of the window';
comment on column enrichment.rate_reports.calls_limit is 'Calls that the service allows in the window';
comment on column enrichment.rate_reports.calls_left is 'Calls that are left in the window';
comment on column enrichment.rate_reports.said_at is 'When the service reported this';
comment on column enrichment.rate_reports.believed_until is 'Until when the report counts';

-- The windows that the service has reported. Calls in flight reduce the free calls, because the service may not have
-- counted them when it reported. An expired report counts as an empty window. By an old report about a used-up window
-- that can still last, one call at a time may ask whether the window has ended. A report is trusted for an hour.
-- 2147483647 calls are an unlimited window.
create function enrichment_internal.service_windows(of_service text, of_scope text)
  returns table (calls integer, seconds integer, free integer, milliseconds float8)
  language plpgsql as $$
  declare
    -- A variable, because PostgreSQL uses no index for a comparison with clock_timestamp().
    at timestamptz := clock_timestamp();
  begin
    return query
    select known.calls_limit, known.seconds, greatest(0, left_now - in_flight)::int,
      case
        -- Calls in flight may report in a moment how many calls are left.
        when left_now > 0 then 250
        else extract(epoch from least(believed_until, trusted_until) - at) * 1000
      end::float8
    from (
      select r.*,
        case
          when r.believed_until <= at then r.calls_limit
          when r.trusted_until <= at then greatest(1, r.calls_left)
          else r.calls_left
        end as left_now,
        (
          select count(*) from enrichment.rate_calls c
          where c.scope = of_scope and c.counted_until > at
        ) as in_flight
      from (
        select *, said_at + make_interval(secs => 3600) as trusted_until from enrichment.rate_reports
      ) r
      where r.service = of_service and r.scope = of_scope
    ) as known
    where left_now < 2147483647
    order by known.seconds;
  end
$$;

-- Numbers the ended calls of an endpoint in the order of their ends, so that the calls of a window can be counted
-- without reading their rows. A call gets its position at the first admission after its end. The caller must lock the
-- endpoint. If a call ended before calls that have a position, these calls get new positions: transactions commit in
-- any order, and the clock can be set back.
create function enrichment_internal.position_ended_calls(of_scope text) returns void language plpgsql as $$
  declare
    at timestamptz := clock_timestamp();
    ended text[];
    earliest timestamptz;
    newest record;
    before bigint;
  begin
    select array_agg(call_id order by counted_until, call_id), min(counted_until) into ended, earliest
    from (
      select call_id, counted_until
      from enrichment.rate_calls
      where scope = of_scope and position is null and counted_until <= at
      for update skip locked
    ) as e;
    if ended is null then return; end if;
    select position, counted_until into newest
    from enrichment.rate_calls
    where scope = of_scope and position is not null
    order by position desc limit 1;
    before := coalesce(newest.position, 0);
    if earliest < newest.counted_until then
      select array_agg(call_id order by counted_until, call_id), min(position) - 1 into ended, before
      from (
        select call_id, counted_until, position from enrichment.rate_calls where call_id = any(ended)
        union all
        select call_id, counted_until, position from enrichment.rate_calls
        where scope = of_scope and position is not null and counted_until > earliest
      ) as e;
    end if;
    update enrichment.rate_calls c
    set position = case when c.counted_until <= at then before + p.place end
    from unnest(ended) with ordinality as p (call_id, place)
    where c.call_id = p.call_id;
  end
$$;

-- The windows of limits, each with the number of calls that may begin now. A window contains its calls without a
-- position, such as calls in flight, and all calls with a position after the newest call that has left it.
create function enrichment_internal.own_windows(of_scope text, limit_calls integer[], limit_seconds integer[])
  returns table (calls integer, seconds integer, free integer) language plpgsql as $$
  declare
    at timestamptz := clock_timestamp();
    newest bigint := (
      select position from enrichment.rate_calls
      where scope = of_scope and position is not null
      order by position desc limit 1
    );
  begin
    return query
    select l.calls, l.seconds, greatest(0, l.calls - coalesce(newest - gone.position, 0) - (
        select count(*) from enrichment.rate_calls c
        where c.scope = of_scope and c.position is null and c.counted_until > at - make_interval(secs => l.seconds)
      ))::integer
    from unnest(limit_calls, limit_seconds) as l (calls, seconds)
    left join lateral (
      select coalesce(
        (
          select c.position from enrichment.rate_calls c
          where c.scope = of_scope and c.position is not null
            and c.counted_until <= at - make_interval(secs => l.seconds)
          order by c.counted_until desc, c.position desc limit 1
        ), (
          select c.position - 1 from enrichment.rate_calls c
          where c.scope = of_scope and c.position is not null
          order by c.position limit 1
        )) as position
    ) gone on true;
  end
$$;

-- The full window with the longest wait, as {"cause", "calls", "seconds", "milliseconds"}; null if every window has
-- more free slots than `kept`, the slots reserved for higher priorities. A window with a limit of n calls has a free
-- slot when the n-th newest call leaves it. Calls without a position count as the newest. If a window has fewer slots
-- than `kept`, the wait is the length of the window.
create function enrichment_internal.full_window(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], kept integer)
  returns jsonb language plpgsql as $$
  declare
    unended bigint;
    newest bigint;
  begin
    select count(*) into unended from enrichment.rate_calls where scope = of_scope and position is null;
    select position into newest from enrichment.rate_calls
    where scope = of_scope and position is not null
    order by position desc limit 1;
    return (
      select to_jsonb(w) from (
        select 'window' as cause, o.calls, o.seconds, coalesce(
          (
            select extract(epoch from c.counted_until - clock_timestamp()) from enrichment.rate_calls c
            where c.scope = of_scope and c.position >= newest + 1 - (o.calls - kept - unended)
            order by c.position limit 1
          ), 0) * 1000 + o.seconds * 1000::float8 as milliseconds
        from enrichment_internal.own_windows(of_scope, limit_calls, limit_seconds) o
        where o.free <= kept
        union all
        select case when s.free > 0 then 'service-kept' else 'service' end, s.calls, s.seconds,
          case when s.free > 0 then 5000 else s.milliseconds end
        from enrichment_internal.service_windows(of_service, of_scope) s
        where s.free <= kept
        order by milliseconds desc
        limit 1
      ) w
    );
  end
$$;

-- Locks an endpoint for one admission at a time.
create function enrichment_internal.lock_endpoint(of_scope text) returns enrichment.rate_scopes language plpgsql as $$
  declare
    endpoint enrichment.rate_scopes;
  begin
    select * into endpoint from enrichment.rate_scopes where scope = of_scope for update;
    if not found then
      insert into enrichment.rate_scopes (scope) values (of_scope) on conflict do nothing;
      select * into endpoint from enrichment.rate_scopes where scope = of_scope for update;
    end if;
    perform enrichment_internal.position_ended_calls(of_scope);
    return endpoint;
  end
$$;

-- Locks an endpoint. Returns why a call must wait, or null. After a refusal, one call at a time probes. A call that
-- began before the refusal, or has lost its answer, is not awaited: its answer would say nothing of the rate now.
create function enrichment_internal.wait_for_slot(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], kept integer)
  returns jsonb language plpgsql as $$
  declare
    endpoint enrichment.rate_scopes := enrichment_internal.lock_endpoint(of_scope);
    at timestamptz := clock_timestamp();
  begin
    if endpoint.paused_until > at then
      return jsonb_build_object('cause', 'paused', 'reason', endpoint.pause_reason,
        'milliseconds', extract(epoch from endpoint.paused_until - at) * 1000);
    end if;
    if endpoint.refusals > 0 and exists (
      select from enrichment.rate_calls
      where scope = of_scope and counted_until > at and started_at > endpoint.refused_at and not abandoned
    ) then
      return jsonb_build_object('cause', 'probing', 'milliseconds', 250);
    end if;
    return enrichment_internal.full_window(of_service, of_scope, limit_calls, limit_seconds, kept);
  end
$$;

-- The number of calls that may begin together; null: unlimited. After a refusal, one call at a time probes.
create function enrichment_internal.slots_together(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], kept integer)
  returns integer language plpgsql as $$
  begin
    if exists (select from enrichment.rate_scopes where scope = of_scope and refusals > 0) then return 1; end if;
    return (
      select min(w.free) - kept
      from (
        select free from enrichment_internal.own_windows(of_scope, limit_calls, limit_seconds)
        union all
        select free from enrichment_internal.service_windows(of_service, of_scope)
      ) w
    );
  end
$$;

-- Occupies a slot of every window for each call. Deletes up to twice as many calls that have left every window, so that
-- the table does not grow. Calls stay for the longest window that a process can have.
create function enrichment_internal.occupy_slots(of_calls text[], of_scope text, deadline_seconds float8)
  returns void language plpgsql as $$
  declare
    at timestamptz := clock_timestamp();
  begin
    insert into enrichment.rate_calls (call_id, scope, counted_until)
    select call_id, of_scope, at + make_interval(secs => deadline_seconds) from unnest(of_calls) as call_id;
    delete from enrichment.rate_calls
    where ctid = any(array(
      select ctid
      from enrichment.rate_calls
      where scope = of_scope and counted_until < at - make_interval(secs => 86400)
      order by counted_until
      limit 2 * cardinality(of_calls)
      for update skip locked
    ));
  end
$$;

-- Acquires a slot in every window for one call. Returns why it must wait, or null.
create function enrichment_internal.acquire_slot(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], of_call text, deadline_seconds float8)
  returns jsonb language plpgsql as $$
  declare
    wait jsonb := enrichment_internal.wait_for_slot(of_service, of_scope, limit_calls, limit_seconds, 0);
  begin
    if wait is null then
      perform enrichment_internal.occupy_slots(array[of_call], of_scope, deadline_seconds);
    end if;
    return wait;
  end
$$;
