import type { DeliveryStatus } from '../../domain/late-results/delivery-status.ts';
import type { Generated } from 'kysely';
import type { Decimal, Timestamp, GeneratedTimestamp } from './column-types.ts';

export interface WebhookDeliveriesTable {
  delivery_id: string;
  attempt_id: string | null;
  run_id: string | null;
  /** Who sent the body: the service (`webhook`), or an answer to a poll. */
  origin: Generated<'webhook' | 'poll'>;
  /** The original bytes, not decompressed. Null: retention has removed them. */
  body: Buffer | null;
  content_encoding: string | null;
  body_sha256: Buffer;
  received_at: GeneratedTimestamp;
  status: Generated<DeliveryStatus>;
  reason: string | null;
  applied_at: Timestamp | null;
  late: Generated<boolean>;
  /** Hash of the people and the kind of results. Of bodies with the same subject, only the most expensive is billed. */
  subject: string | null;
  /** Hashes of the results that the body mentions (`DeliveredPart`), without ids of people. */
  covers: Generated<string[]>;
  brings: Generated<string[]>;
  person_ids: Generated<string[]>;
  /** Null: the body does not state a price. */
  credits: Decimal | null;
}

export interface LateResultsTables {
  webhook_deliveries: WebhookDeliveriesTable;
}
