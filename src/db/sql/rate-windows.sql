create table enrichment.rate_scopes (
  -- Endpoint of the service. Two URLs can lead to the same service, so all URLs of a service share the scope.
  scope text primary key,
  paused_until timestamptz,
  pause_reason text,
  -- Number of consecutive refusals. Above 0, only one probing call at a time is sent.
  refusals integer not null default 0,
  refused_at timestamptz
);
comment on table enrichment.rate_scopes is 'Endpoints of the service, and why their calls wait';
comment on column enrichment.rate_scopes.paused_until is 'No call before this time';
comment on column enrichment.rate_scopes.pause_reason is 'Why calls wait';
comment on column enrichment.rate_scopes.refusals is 'Refusals and failures in a row; above 0, one call at a time is sent';
comment on column enrichment.rate_scopes.refused_at is 'When the service last refused or failed a call';

create table enrichment.rate_calls (
  call_id text primary key,
  scope text not null,
  started_at timestamptz not null default clock_timestamp(),
  counted_until timestamptz not null,
  -- Position of the call in the order of ends, so that the calls of a window are counted without reading them: with
  -- 60,000 calls, count(*) took half of an admission. Null until the first admission after the end.
  end_number bigint,
  abandoned boolean not null default false
);
comment on table enrichment.rate_calls is 'Occupied slots of rate windows';
comment on column enrichment.rate_calls.call_id is 'The call';
comment on column enrichment.rate_calls.counted_until is
  'Latest time at which the service may have counted the call; the slot is free one window later';
comment on column enrichment.rate_calls.abandoned is
  'True if the call ended without an answer; the service may still receive it';
comment on column enrichment.rate_calls.end_number is
  'Position in the order of ended calls; null while the call counts as in flight';
-- Every call leaves a dead index entry, which each admission reads until a vacuum.
alter table enrichment.rate_calls set (autovacuum_vacuum_scale_factor = 0.02);
create index rate_calls_by_end on enrichment.rate_calls (scope, counted_until, end_number);
create index rate_calls_in_flight on enrichment.rate_calls (scope, counted_until) where end_number is null;

create table enrichment.rate_reports (
  service text not null,
  scope text not null,
  seconds integer not null check (seconds > 0),
  -- Allowed calls of the window. The largest integer stands for unlimited or not reported.
  calls_limit integer not null check (calls_limit > 0),
  calls_left integer not null check (calls_left >= 0),
  said_at timestamptz not null,
  -- Time at which the window has certainly ended. Afterwards, only the limit of the next window is known.
  believed_until timestamptz not null,
  primary key (service, scope, seconds)
);
comment on table enrichment.rate_reports is 'Rate windows as the service last reported them';
comment on column enrichment.rate_reports.seconds is 'Length of the window';
comment on column enrichment.rate_reports.calls_limit is 'Calls that the service allows in the window';
comment on column enrichment.rate_reports.calls_left is 'Calls that are left in the window';
comment on column enrichment.rate_reports.said_at is 'When the service reported this';
comment on column enrichment.rate_reports.believed_until is 'When the report expires';

-- Numbers the calls that have ended. The caller locks the endpoint. A call that is found late, because transactions
-- commit in any order and clocks can be set back, gets the newest number and counts longer than needed.
create function enrichment_internal.number_ended_calls(of_scope text) returns void language plpgsql as $$
  declare
    at timestamptz := clock_timestamp();
    newest record;
  begin
    select end_number, counted_until into newest
    from enrichment.rate_calls
    where scope = of_scope and end_number is not null
    order by counted_until desc, end_number desc
    limit 1;
    with ended as materialized (
      select call_id, counted_until
      from enrichment.rate_calls
      where scope = of_scope and end_number is null and counted_until <= at
      -- A call that ends during the admission waits for the lock of the endpoint, so it is skipped.
      for update skip locked
    )
    update enrichment.rate_calls c
    set end_number = coalesce(newest.end_number, 0) + e.place,
      counted_until = greatest(c.counted_until, newest.counted_until)
    from (select call_id, row_number() over (order by counted_until, call_id) as place from ended) e
    where c.call_id = e.call_id;
  end
$$;

-- Returns every rate window with the number of calls that may begin now, or the shortest wait if there are none.
-- 2147483647 calls mean an unlimited window.
-- - `window` rows come from the limits of this process. A window contains all calls without a number, and all numbers
-- from its oldest call on. A slot becomes free when the oldest call leaves (after a lowered limit: a later call).
-- - `service` rows come from the service's reports. Calls in flight reduce the free calls, because the service may not
-- have counted them. An expired report counts as an unused window.
-- - If an old report says that a window is used up, one call at a time may test whether it has ended.
create function enrichment_internal.rate_windows(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[])
  returns table (cause text, calls integer, seconds integer, free integer, milliseconds float8)
  language plpgsql as $$
  declare
    -- The time is a variable, because PostgreSQL cannot use an index with clock_timestamp().
    at timestamptz := clock_timestamp();
    in_flight bigint := (
      select count(*) from enrichment.rate_calls c
      where c.scope = of_scope and c.end_number is null and c.counted_until > at
    );
    newest bigint := (
      select end_number from enrichment.rate_calls
      where scope = of_scope and end_number is not null
      order by counted_until desc, end_number desc
      limit 1
    );
  begin
    return query
    select 'window', l.calls, l.seconds, greatest(0, l.calls - w.occupied)::integer,
      -- The number of an abandoned call can be missing, and then counts until its neighbours leave the window.
      case when w.occupied >= l.calls then coalesce((
        select l.seconds + extract(epoch from least(c.counted_until, at) - at)
        from enrichment.rate_calls c
        where c.scope = of_scope and c.counted_until > at - make_interval(secs => l.seconds)
        order by c.counted_until
        offset w.occupied - l.calls
        limit 1
      ), l.seconds) * 1000 else 0 end::float8
    from unnest(limit_calls, limit_seconds) as l (calls, seconds)
    cross join lateral (
      select coalesce(newest + 1 - (
        select c.end_number from enrichment.rate_calls c
        where c.scope = of_scope and c.end_number is not null
          and c.counted_until > at - make_interval(secs => l.seconds)
        order by c.counted_until, c.end_number
        limit 1
      ), 0) + (
        select count(*) from enrichment.rate_calls c
        where c.scope = of_scope and c.end_number is null and c.counted_until > at - make_interval(secs => l.seconds)
      ) as occupied
    ) w;
    return query
    select 'service', r.calls_limit, r.seconds, greatest(0, known.calls_left - in_flight)::integer,
      case
        -- The wait is only 250 ms, because calls in flight may soon report how many calls are left.
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
    where r.service = of_service and r.scope = of_scope and known.calls_left < 2147483647
    order by r.seconds;
  end
$$;

-- Returns how many calls may begin now (null: any number), and why not one more. The slots `kept` are for calls of
-- higher priority. After a refusal or failure, one probing call at a time is sent. This probing does not wait for calls
-- that began earlier or lost their answer, because they do not show the current state of the service.
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
        where scope = of_scope and end_number is null and counted_until > at
          and started_at > endpoint.refused_at and not abandoned
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

-- Locks an endpoint, so that only one admission at a time uses its rate windows.
create function enrichment_internal.lock_endpoint(of_scope text) returns void language plpgsql as $$
  begin
    insert into enrichment.rate_scopes (scope) values (of_scope) on conflict do nothing;
    perform from enrichment.rate_scopes where scope = of_scope for update;
    perform enrichment_internal.number_ended_calls(of_scope);
  end
$$;

-- Occupies a slot of every window for each call. Deletes calls that have left the longest possible window, at most two
-- per new call, so that the table does not grow.
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
      where scope = of_scope and end_number is not null and counted_until < at - make_interval(secs => 86400)
      order by counted_until
      limit 2 * cardinality(of_calls)
      for update skip locked
    ));
  end
$$;

-- Acquires a slot in every window for one call. Returns null, or why the call must wait.
create function enrichment_internal.acquire_slot(of_service text, of_scope text, limit_calls integer[],
    limit_seconds integer[], of_call text, deadline_seconds float8)
  returns jsonb language plpgsql as $$
  declare
    free record;
  begin
    perform enrichment_internal.lock_endpoint(of_scope);
    select * into free from enrichment_internal.free_slots(of_service, of_scope, limit_calls, limit_seconds, 0);
    if free.slots = 0 then return free.wait; end if;
    perform enrichment_internal.occupy_slots(array[of_call], of_scope, deadline_seconds);
    return null;
  end
$$;
