create table enrichment.webhook_deliveries (
  delivery_id text primary key,
  attempt_id text,
  run_id text,
  origin text not null default 'webhook' check (origin in ('webhook', 'poll')),
  body bytea,
  body_sha256 bytea not null,
  received_at timestamptz not null default clock_timestamp(),
  status text not null default 'received'
    constraint webhook_deliveries_status
      check (status in ('received', 'applied', 'duplicate', 'quarantined')),
  reason text,
  applied_at timestamptz,
  late boolean not null default false,
  subject text,
  covers text[] not null default '{}',
  brings text[] not null default '{}',
  person_ids text[] not null default '{}',
  credits numeric(20, 6) check (credits >= 0)
);
comment on table enrichment.webhook_deliveries is 'One webhook delivery or poll, with its original body';
comment on column enrichment.webhook_deliveries.delivery_id is 'Key of the delivery';
comment on column enrichment.webhook_deliveries.origin is 'webhook or poll';
comment on column enrichment.webhook_deliveries.body is
  'The original bytes, not decompressed; null: retention has removed them';
comment on column enrichment.webhook_deliveries.status is 'received, applied, duplicate or quarantined';
comment on column enrichment.webhook_deliveries.late is 'The delivery came after the end of its run';
comment on column enrichment.webhook_deliveries.subject is 'Hash of the people and the kind of results in the payload';
comment on column enrichment.webhook_deliveries.covers is 'Hashes of the results that the payload mentions';
comment on column enrichment.webhook_deliveries.brings is 'Hashes of the results that the payload has values for';
comment on column enrichment.webhook_deliveries.person_ids is 'Ids of the people in the payload';
comment on column enrichment.webhook_deliveries.credits is 'Price that the payload states';
comment on column enrichment.webhook_deliveries.received_at is 'When the delivery came';
comment on column enrichment.webhook_deliveries.applied_at is 'When the delivery took effect';
-- Bodies are stored uncompressed, because compressing small bodies costs the receiver more than the disk space is
-- worth.
alter table enrichment.webhook_deliveries alter column body set storage external;
create index webhook_deliveries_by_attempt on enrichment.webhook_deliveries (attempt_id);
create index webhook_deliveries_waiting on enrichment.webhook_deliveries (run_id, received_at)
  where status = 'received';
create index webhook_deliveries_by_run on enrichment.webhook_deliveries (run_id, status);
-- The column is empty when a delivery is stored, so that storing does not write to this index.
create index webhook_deliveries_by_person on enrichment.webhook_deliveries using gin (person_ids)
  where person_ids <> '{}';
-- Metrics count quarantined deliveries, which are few in a large table.
create index webhook_deliveries_without_effect on enrichment.webhook_deliveries (status)
  where status = 'quarantined';
-- A delivery enters this index when it has taken effect, so that storing a delivery does not write to the index.
create index webhook_deliveries_to_prune on enrichment.webhook_deliveries (received_at)
  where status in ('applied', 'duplicate') and body is not null;

create table enrichment.expected_results (
  attempt_id text not null references enrichment.attempts on delete cascade,
  person_id text not null,
  kind text not null check (kind in ('phone', 'waterfall_email', 'waterfall_phone')),
  status text not null check (status in ('expected', 'filled', 'missing')),
  delivery_id text,
  -- Hashes of the person's e-mails. A waterfall can deliver a person under another id, who is then matched by e-mail.
  email_hashes text[] not null default '{}',
  primary key (attempt_id, person_id, kind)
);
comment on table enrichment.expected_results is 'A late result that a call expects: one kind for one person';
comment on column enrichment.expected_results.person_id is
  'Person of the answer; unlisted-1, … for people whom the answer does not list';
comment on column enrichment.expected_results.kind is 'phone, waterfall_email or waterfall_phone';
comment on column enrichment.expected_results.status is 'expected, filled or missing';
comment on column enrichment.expected_results.delivery_id is
  'Delivery with the result, or with the report that nothing was found';
comment on column enrichment.expected_results.email_hashes is 'Hashes of the e-mails of the person in the answer';
create index expected_results_open on enrichment.expected_results (attempt_id) where status = 'expected';
