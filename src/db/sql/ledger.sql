create table enrichment.attempts (
  attempt_id text primary key,
  run_id text not null references enrichment.runs,
  batch integer not null,
  status text not null check (status in ('admitted', 'awaiting', 'unknown', 'settled', 'refused', 'released')),
  reason text,
  people integer not null check (people > 0),
  request_id text,
  credits_reserved numeric(20, 6) not null check (credits_reserved >= 0),
  credits_settled numeric(20, 6) check (credits_settled >= 0),
  credits_answered numeric(20, 6) check (credits_answered >= 0),
  credits_stated numeric(20, 6) check (credits_stated >= 0),
  budget_ids text[] not null,
  token_hash bytea,
  http_status integer,
  found_ids text[] not null default '{}',
  found_people integer not null default 0,
  awaited_until timestamptz,
  next_poll_at timestamptz,
  polls integer not null default 0,
  phones_with_earlier boolean not null default false,
  admitted_at timestamptz not null default clock_timestamp(),
  answered_at timestamptz,
  decided_at timestamptz,
  closed_at timestamptz,
  constraint attempts_settled_once_known
    check ((credits_settled is null) = (status in ('admitted', 'awaiting', 'unknown')))
);
comment on table enrichment.attempts is 'One bulk call with its reserved and settled credits';
comment on column enrichment.attempts.batch is 'Batch of ten positions, from 1';
comment on column enrichment.attempts.status is 'admitted, settled, awaiting, unknown, refused or released';
comment on column enrichment.attempts.request_id is 'Id of the request at the service';
comment on column enrichment.attempts.credits_settled is 'What the call cost; null until the cost is known';
comment on column enrichment.attempts.credits_answered is 'Price in the answer, before late results';
comment on column enrichment.attempts.credits_stated is
  'Minimum price by answer and deliveries together; null before the first delivery';
comment on column enrichment.attempts.budget_ids is 'Budgets that pay for the call';
comment on column enrichment.attempts.http_status is 'HTTP status of the answer or the error';
comment on column enrichment.attempts.found_ids is 'Ids of the people in the answer';
comment on column enrichment.attempts.found_people is 'Number of people in the answer';
comment on column enrichment.attempts.awaited_until is 'When the wait for late results ends';
comment on column enrichment.attempts.next_poll_at is 'When the next poll for late results is due';
comment on column enrichment.attempts.polls is 'Number of polls';
comment on column enrichment.attempts.phones_with_earlier is 'True if an earlier call already requested the phones';
comment on column enrichment.attempts.answered_at is 'When the answer was recorded';
comment on column enrichment.attempts.decided_at is 'When the operator last decided the cost; null: never';
comment on column enrichment.attempts.closed_at is 'When the attempt ended';
alter table enrichment.attempts alter column run_id set statistics 0;
-- The index includes the number of people, so that no rows are read: a run can have millions of calls.
create index attempts_by_batch on enrichment.attempts (run_id, batch) include (status, people);
create index attempts_open on enrichment.attempts (status) where status in ('admitted', 'awaiting', 'unknown');
create unique index attempts_by_token on enrichment.attempts (token_hash) where token_hash is not null;
create index attempts_to_poll on enrichment.attempts (run_id, next_poll_at) where status = 'awaiting';
-- Erasures read this index, and fastupdate keeps the recording of answers fast.
create index attempts_by_found_id on enrichment.attempts using gin (found_ids) where found_ids <> '{}';
create index attempts_by_answer on enrichment.attempts (run_id, answered_at desc) where answered_at is not null;

create table enrichment.attempt_people (
  attempt_id text not null references enrichment.attempts on delete cascade,
  detail_index integer not null,
  run_id text not null,
  row_number integer not null,
  outcome text,
  person_id text,
  evidence text,
  primary key (attempt_id, detail_index)
);
comment on table enrichment.attempt_people is 'One person of a call, with the outcome';
comment on column enrichment.attempt_people.detail_index is 'Index in the request, from 0';
alter table enrichment.attempt_people alter column run_id set statistics 0;
create index attempt_people_by_row on enrichment.attempt_people (run_id, row_number);
create index attempt_people_by_person on enrichment.attempt_people (person_id) where person_id is not null;

create table enrichment_internal.raw_answers (
  attempt_id text primary key references enrichment.attempts on delete cascade,
  received_at timestamptz not null default clock_timestamp(),
  -- The original body as bytes, because a body need not be valid text or JSON.
  body_gzip bytea not null,
  -- Identity keys of people who are only in the body. An erasure of such a person removes the body.
  unrecorded_keys text[] not null default '{}'
);
create index raw_answers_by_key on enrichment_internal.raw_answers using gin (unrecorded_keys)
  where unrecorded_keys <> '{}';
-- The body is already compressed with gzip.
alter table enrichment_internal.raw_answers alter column body_gzip set storage external;
create index raw_answers_by_age on enrichment_internal.raw_answers (received_at);

create table enrichment.quarantined_people (
  attempt_id text not null references enrichment.attempts on delete cascade,
  match_index integer not null,
  reason text not null,
  created_at timestamptz not null default now(),
  primary key (attempt_id, match_index)
);
comment on table enrichment.quarantined_people is 'People in answers who were not assigned to a row';
comment on column enrichment.quarantined_people.match_index is 'Index in the answer, from 0';
comment on column enrichment.quarantined_people.created_at is 'When the answer was recorded';

create table enrichment.credit_statements (
  statement_id bigint generated always as identity primary key,
  service text not null,
  run_id text,
  consumed numeric(20, 6) not null,
  cycle_start text,
  cycle_end text,
  read_at timestamptz not null default clock_timestamp()
);
comment on table enrichment.credit_statements is 'Credit usage as the service states it, before and after runs';
comment on column enrichment.credit_statements.statement_id is 'Key of the statement';
comment on column enrichment.credit_statements.consumed is 'Credits consumed in the cycle, by the count of the service';
comment on column enrichment.credit_statements.cycle_start is 'Start of the credit cycle';
comment on column enrichment.credit_statements.cycle_end is 'End of the credit cycle';
comment on column enrichment.credit_statements.read_at is 'When the statement was read';
create index credit_statements_by_cycle
  on enrichment.credit_statements (service, cycle_start, statement_id);
