import { z } from 'zod';
import { deliveryStatuses } from '../domain/late-results/delivery-status.ts';
import type { DeliveryFacts } from '../late-results/deliveries.ts';
import { count, decimal, time, type Fields } from './fields.ts';

const deliveryFields = {
  delivery_id: z.string().describe('Id of the delivery.'),
  run_id: z.string().nullable().describe('Id of the run. Null: the run is not known.'),
  attempt_id: z.string().nullable().describe('Id of the call. Null: the call is not known.'),
  origin: z.string().describe('How it came: "webhook" or "poll".'),
  status: z.enum(deliveryStatuses).describe('What became of the delivery.'),
  late: z.boolean().describe('Whether it took effect after the run had ended.'),
  reason: z.string().nullable().describe('Why it has its status. Null: nothing is unusual.'),
  bytes: count.nullable().describe('Size of the body in bytes. Null: the body is no longer kept.'),
  body_sha256: z.string().describe('SHA-256 of the body, in hexadecimal digits.'),
  people: count.describe('People in the delivery.'),
  credits: decimal.nullable().describe('Credits that the delivery reports. Null: none.'),
  received_at: time.describe('When it was stored.'),
  applied_at: time.nullable().describe('When it was applied. Null: not yet.'),
} satisfies Fields<DeliveryFacts>;

export const delivery = z.strictObject(deliveryFields).describe('A delivery, without its body.');

export const deliveryList = z.array(delivery).describe('Deliveries, the newest first.');

export const inboxReplay = z
  .strictObject({
    delivery_id: deliveryFields.delivery_id,
    status: deliveryFields.status,
    reason: deliveryFields.reason,
  })
  .describe('What became of a delivery that was applied again.');

export const inboxSweep = z
  .strictObject({
    polled: count.describe('Calls that were polled.'),
    applied: count.describe('Deliveries that took effect.'),
    awaited: count.describe('Calls of ended runs whose late results have still not come.'),
    overdue: count.describe('Calls of these whose deadline has passed.'),
  })
  .describe('Late results of ended runs that were applied.');
