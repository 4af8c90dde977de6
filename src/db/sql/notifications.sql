create table enrichment_internal.notifications (
  notification_id bigint generated always as identity primary key,
  event text not null check (event in ('paused', 'failed', 'finished', 'budget')),
  run_id text references enrichment.runs on delete cascade,
  -- The pause reason of a run; the time and reason of a schedule; the threshold and credits of a budget.
  facts jsonb,
  occurred_at timestamptz not null default clock_timestamp(),
  -- Channels that have accepted the notification: url, command.
  told text[] not null default '{}',
  tries integer not null default 0,
  next_try_at timestamptz not null default clock_timestamp(),
  -- Why the last try failed.
  failure text,
  -- When all channels accepted the notification, or the worker stopped trying.
  closed_at timestamptz,
  constraint notifications_of_a_run check (run_id is not null or event in ('budget', 'failed'))
);
create index notifications_to_tell on enrichment_internal.notifications (next_try_at) where closed_at is null;

-- Triggers write a notification in the transaction that changes the run, whether a workflow, a command or a refused
-- call changes it. Runs that only plan send no notifications.
create function enrichment_internal.notify_of_run() returns trigger language plpgsql as $$
  begin
    insert into enrichment_internal.notifications (event, run_id, facts)
    values (new.status, new.run_id, new.pause_reason);
    return null;
  end
$$;
create trigger runs_notify after update of status on enrichment.runs for each row
  when (new.status is distinct from old.status and new.status in ('finished', 'paused', 'failed')
    and new.run_key not like 'plan %')
  execute function enrichment_internal.notify_of_run();

create function enrichment_internal.notify_of_budget() returns trigger language plpgsql as $$
  begin
    insert into enrichment_internal.notifications (event, facts)
    values ('budget', jsonb_build_object(
      'budget', new.budget_id,
      'percent', new.percent,
      'limit', trim_scale(new.credits_limit)::text,
      'used', trim_scale(new.used)::text));
    return null;
  end
$$;
create trigger budget_alarms_notify after insert on enrichment.budget_alarms for each row
  execute function enrichment_internal.notify_of_budget();
