import type { DeliveryStatus } from '../../domain/late-results/delivery-status.ts';
import type { Generated } from 'kysely';
import type { Decimal, Timestamp, GeneratedTimestamp } from './column-types.ts';

export interface WebhookDeliveriesTable {
  delivery_id: string;
  attempt_id: string | null;
  run_id: string | null;
  /** `webhook`, or `poll` where we fetched it. */
  origin: Generated<'webhook' | 'poll'>;
  /** As it came: not decompressed, not parsed. Null: its retention has passed. */
  body: Buffer | null;
  content_encoding: string | null;
  body_sha256: Buffer;
  received_at: GeneratedTimestamp;
  status: Generated<DeliveryStatus>;
  reason: string | null;
  applied_at: Timestamp | null;
  /** Applied after its run had ended. */
  late: Generated<boolean>;
  /** Whose results of which kind it holds: of bodies with the same subject the dearest is billed, not their sum. */
  subject: string | null;
  /** The results that it speaks of, and those it has values for (`DeliveredPart`): no ids of people. */
  covers: Generated<string[]>;
  brings: Generated<string[]>;
  person_ids: Generated<string[]>;
  /** Null where the body does not say. */
  credits: Decimal | null;
}

export interface LateResultsTables {
  webhook_deliveries: WebhookDeliveriesTable;
}
