import { sql, type Kysely } from 'kysely';

/** Results that come after the answer: what is awaited, what was delivered, and phones; `tables.ts` explains the columns. */
export async function up(database: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(database);
}

const statements = [
  // Additions with constant defaults only: they rewrite no table and are safe beside running workers of the release before.
  `alter table enrichment.attempts
    add column awaits text[] not null default '{}',
    add column credits_answered numeric(20, 6) check (credits_answered >= 0),
    add column found_ids text[] not null default '{}',
    add column found_people integer not null default 0,
    add column awaited_until timestamptz,
    add column next_poll_at timestamptz,
    add column polls integer not null default 0,
    add column phones_with_earlier boolean not null default false`,
  `create index attempt_people_by_person on enrichment.attempt_people (person_id) where person_id is not null`,
  `create index attempts_to_poll on enrichment.attempts (run_id, next_poll_at) where status = 'awaiting'`,
  `create index attempts_by_request on enrichment.attempts (request_id) where request_id is not null`,

  `alter table enrichment.webhook_deliveries
    add column run_id text,
    add column origin text not null default 'webhook' check (origin in ('webhook', 'poll')),
    add column content_encoding text,
    add column late boolean not null default false,
    add column subject text,
    add column person_ids text[] not null default '{}',
    add column credits numeric(20, 6) check (credits >= 0),
    add constraint webhook_deliveries_status
      check (status in ('received', 'applied', 'duplicate', 'orphaned', 'quarantined'))`,
  // Compressing small bodies costs the receiver more than the disk is worth.
  `alter table enrichment.webhook_deliveries alter column body set storage external`,
  `create index webhook_deliveries_by_attempt on enrichment.webhook_deliveries (attempt_id)`,
  `drop index enrichment.webhook_deliveries_waiting`,
  `create index webhook_deliveries_waiting on enrichment.webhook_deliveries (run_id, received_at) where status = 'received'`,
  `create index webhook_deliveries_by_run on enrichment.webhook_deliveries (run_id, status)`,

  // What one service answered says nothing of what another knows, and the sandbox's people are invented.
  `alter table enrichment.identity_memory add column service text not null default ''`,
  `alter table enrichment.rate_scopes add column refused_at timestamptz`,

  `create table enrichment.contact_phones (
    source text not null,
    contact_id text not null,
    person_id text not null,
    number text not null,
    e164 text,
    raw_number text,
    type text,
    status text,
    dnc_status text,
    confidence text,
    position integer not null,
    origin text not null check (origin in ('reveal', 'waterfall')),
    attempt_id text not null,
    run_id text not null,
    delivery_id text not null,
    asked_at timestamptz not null,
    primary key (source, contact_id, number)
  )`,
];
