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
comment on column enrichment.rate_scopes.refusals is 'Refusals and failures in a row; above 0, one call at a time is sent';
comment on column enrichment.rate_scopes.refused_at is 'When the service last refused or failed a call';

create table enrichment.rate_calls (
  call_id text primary key,
  scope text not null,
  started_at timestamptz not null default clock_timestamp(),
  counted_until timestamptz not null,
  abandoned boolean not null default false
);
comment on table enrichment.rate_calls is 'Occupied slots of rate windows';
comment on column enrichment.rate_calls.call_id is 'The call';
comment on column enrichment.rate_calls.counted_until is
  'Latest time at which the service may have counted the call; a window later its slot is free';
comment on column enrichment.rate_calls.abandoned is
  'Whether the call ended without an answer, so that the service may still receive it';
create index rate_calls_by_end on enrichment.rate_calls (scope, counted_until);

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

-- Every window with the calls that may begin now; if there are none, the shortest wait.
-- `window`: of the limits. A window of n calls has a free slot when the n-th newest call has left it. A call in flight
-- can end at once.
-- `service`: as the service has reported it. Calls in flight reduce the free calls, because the service may not have
-- counted them when it reported. An expired report counts as an empty window. By an old report about a used-up window
-- that can still last, one call at a time may ask whether the window has ended. A report is trusted for an hour.
-- 2147483647 calls are an unlimited window.
create function enrichment_internal.rate_windows(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[])
  returns table (cause text, calls integer, seconds integer, free integer, milliseconds float8)
  language plpgsql as $$
  declare
    -- A variable, because PostgreSQL uses no index for a comparison with clock_timestamp().
    at timestamptz := clock_timestamp();
  begin
    return query
    select 'window', l.calls, l.seconds, greatest(0, l.calls - w.occupied)::integer,
      case when w.occupied >= l.calls then (
        select l.seconds + extract(epoch from least(c.counted_until, at) - at)
        from enrichment.rate_calls c
        where c.scope = of_scope
        order by c.counted_until desc
        offset l.calls - 1
        limit 1
      ) * 1000 else 0 end::float8
    from unnest(limit_calls, limit_seconds) as l (calls, seconds)
    cross join lateral (
      select count(*) as occupied from enrichment.rate_calls c
      where c.scope = of_scope and c.counted_until > at - make_interval(secs => l.seconds)
    ) w;
    return query
    select 'service', r.calls_limit, r.seconds, greatest(0, known.calls_left - in_flight)::integer,
      case
        -- Calls in flight may report in a moment how many calls are left.
        when known.calls_left > 0 then 250
        else extract(epoch from least(r.believed_until, trusted_until) - at) * 1000
      end::float8
    from enrichment.rate_reports r
    cross join lateral (select r.said_at + make_interval(secs => 3600) as trusted_until) t
    cross join lateral (
      select case
        when r.believed_until <= at then r.calls_limit
        when trusted_until <= at then greatest(1, r.calls_left)
        else r.calls_left
      end as calls_left
    ) known
    cross join lateral (
      select count(*) as in_flight from enrichment.rate_calls c where c.scope = of_scope and c.counted_until > at
    ) f
    where r.service = of_service and r.scope = of_scope and known.calls_left < 2147483647
    order by r.seconds;
  end
$$;

-- How many calls may begin now (null: any number), and why not one more. The slots `kept` are for calls of higher
-- priority. After a refusal or a failure, one call at a time probes. A call that began before, or has lost its answer,
-- is not awaited: its answer would say nothing of the service now.
create function enrichment_internal.free_slots(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], kept integer, out slots integer, out wait jsonb)
  language plpgsql as $$
  declare
    at timestamptz := clock_timestamp();
    endpoint enrichment.rate_scopes;
    full_window record;
  begin
    select * into endpoint from enrichment.rate_scopes where scope = of_scope;
    if endpoint.paused_until > at then
      slots := 0;
      wait := jsonb_build_object('cause', 'paused', 'reason', endpoint.pause_reason,
        'milliseconds', extract(epoch from endpoint.paused_until - at) * 1000);
      return;
    end if;
    if endpoint.refusals > 0 then
      slots := case when exists (
        select from enrichment.rate_calls
        where scope = of_scope and counted_until > at and started_at > endpoint.refused_at and not abandoned
      ) then 0 else 1 end;
      wait := jsonb_build_object('cause', 'probing', 'milliseconds', 250);
    end if;
    for full_window in
      select * from enrichment_internal.rate_windows(of_service, of_scope, limit_calls, limit_seconds)
      order by milliseconds
    loop
      slots := least(slots, greatest(0, full_window.free - kept));
      if full_window.free = 0 then
        wait := to_jsonb(full_window);
      elsif full_window.free <= kept then
        wait := jsonb_build_object('cause', 'preempted', 'milliseconds', 60000);
      end if;
    end loop;
  end
$$;

-- Locks an endpoint for one admission at a time.
create function enrichment_internal.lock_endpoint(of_scope text) returns void language plpgsql as $$
  begin
    insert into enrichment.rate_scopes (scope) values (of_scope) on conflict do nothing;
    perform from enrichment.rate_scopes where scope = of_scope for update;
  end
$$;

-- Occupies a slot of every window for a call. Deletes up to two calls that have left every window, so that the table
-- does not grow. Calls stay for the longest window that a process can have.
create function enrichment_internal.occupy_slot(of_call text, of_scope text, deadline_seconds float8)
  returns void language plpgsql as $$
  declare
    at timestamptz := clock_timestamp();
  begin
    insert into enrichment.rate_calls (call_id, scope, counted_until)
    values (of_call, of_scope, at + make_interval(secs => deadline_seconds));
    delete from enrichment.rate_calls
    where ctid = any(array(
      select ctid
      from enrichment.rate_calls
      where scope = of_scope and counted_until < at - make_interval(secs => 86400)
      order by counted_until
      limit 2
      for update skip locked
    ));
  end
$$;

-- Acquires a slot in every window for one call. Returns why it must wait, or null.
create function enrichment_internal.acquire_slot(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], of_call text, deadline_seconds float8)
  returns jsonb language plpgsql as $$
  declare
    free record;
  begin
    perform enrichment_internal.lock_endpoint(of_scope);
    select * into free from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, 0);
    if free.slots = 0 then return free.wait; end if;
    perform enrichment_internal.occupy_slot(of_call, of_scope, deadline_seconds);
    return null;
  end
$$;
