import { oneOf } from '../../../one-of.ts';
import {
  deliveryStatuses,
  effectiveStatuses,
  ineffectiveStatuses,
} from '../../../../domain/late-results/delivery-kinds.ts';
/** The inbox of webhook deliveries and polls; `column-comments` explains the columns. */
export const lateResultTables = [
  `create table enrichment.webhook_deliveries (
    delivery_id text primary key,
    attempt_id text,
    run_id text,
    origin text not null default 'webhook' check (origin in ('webhook', 'poll')),
    content_encoding text,
    body bytea,
    body_sha256 bytea not null,
    received_at timestamptz not null default clock_timestamp(),
    status text not null default 'received'
      constraint webhook_deliveries_status
        check (status in (${oneOf(deliveryStatuses)})),
    reason text,
    applied_at timestamptz,
    late boolean not null default false,
    subject text,
    covers text[] not null default '{}',
    brings text[] not null default '{}',
    person_ids text[] not null default '{}',
    credits numeric(20, 6) check (credits >= 0)
  )`,
  // Compressing small bodies costs the receiver more than the disk is worth.
  `alter table enrichment.webhook_deliveries alter column body set storage external`,
  `create index webhook_deliveries_by_attempt on enrichment.webhook_deliveries (attempt_id)`,
  `create index webhook_deliveries_waiting on enrichment.webhook_deliveries (run_id, received_at)
    where status = 'received'`,
  `create index webhook_deliveries_by_run on enrichment.webhook_deliveries (run_id, status)`,
  // Empty when a delivery is stored, so storing does not write to this index.
  `create index webhook_deliveries_by_person on enrichment.webhook_deliveries using gin (person_ids)
    where person_ids <> '{}'`,
  // Metrics count orphaned and quarantined deliveries, which are few in a large table.
  `create index webhook_deliveries_without_effect on enrichment.webhook_deliveries (status)
    where status in (${oneOf(ineffectiveStatuses)})`,
  // Deliveries enter this index when they have taken effect, so storing a delivery does not write to it.
  `create index webhook_deliveries_to_prune on enrichment.webhook_deliveries (received_at)
    where status in (${oneOf(effectiveStatuses)}) and body is not null`,
];
