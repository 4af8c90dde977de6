create table enrichment_internal.notifications (
  notification_id bigint generated always as identity primary key,
  event text not null check (event in ('paused', 'failed', 'finished', 'budget', 'job_change')),
  run_id text references enrichment.runs on delete cascade,
  -- For a run: its pause reason. For a schedule: time and reason. For a budget: threshold and credits. For a job
  -- change: the observation that shows the change; an erasure removes this observation.
  facts jsonb,
  occurred_at timestamptz not null default clock_timestamp(),
  -- Channels that have accepted the notification: url, command.
  told text[] not null default '{}',
  tries integer not null default 0,
  next_try_at timestamptz not null default clock_timestamp(),
  -- Why the last try to send the notification failed.
  failure text,
  -- Time when all channels had accepted the notification, or the worker stopped trying.
  closed_at timestamptz,
  constraint notifications_of_a_run check (run_id is not null or event in ('budget', 'failed', 'job_change'))
);
create index notifications_to_tell on enrichment_internal.notifications (next_try_at) where closed_at is null;

-- Triggers write a notification in the transaction that changes the run, so that no change of a run lacks its
-- notification. Runs that only plan send none.
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

-- Only a new observation sends a notification about a job change. A rebuild, an undo and retention send none.
create function enrichment_internal.notify_of_job_changes() returns trigger language plpgsql as $$
  begin
    insert into enrichment_internal.notifications (event, facts)
    select 'job_change', jsonb_build_object('observation_id', n.observation_id)
    from new_observations n
    -- The view is read only for these people; reading it for all people would take most of the time of a digest.
    cross join lateral (
      select o.service, o.person_key
      from enrichment_internal.observation_log o
      where o.service = n.service and o.person_key = n.person_key and o.organization_key <> n.organization_key
      limit 1
    ) person
    cross join lateral (
      select
      from enrichment.job_changes j
      where j.service = person.service and j.person_key = person.person_key and j.observation_id = n.observation_id
      offset 0
    ) moved;
    return null;
  end
$$;
create trigger observations_notify after insert on enrichment_internal.observation_log
  referencing new table as new_observations for each statement
  execute function enrichment_internal.notify_of_job_changes();
