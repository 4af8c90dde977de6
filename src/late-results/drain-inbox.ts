import { canSucceedLater, databaseErrorCode } from '../db/postgres-errors.ts';
import type { Warehouse } from '../db/database.ts';
import { killPoint } from '../telemetry/kill-point.ts';
import { applyLateResult, type DeliveryEffect } from './apply-late-result.ts';
import { quarantineDelivery, readWaitingDeliveries, type WaitingDelivery } from './deliveries.ts';
import { contentOf } from './delivery-content.ts';
import type { LateScope } from './late-scope.ts';

/** Bodies have up to some hundred KB: this number at once bounds memory. */
const deliveriesAtOnce = 50;

/** Applies the inbox, oldest delivery first. */
export async function drainInbox(
  warehouse: Warehouse,
  scope: LateScope | { readonly attemptId: string },
  signal: AbortSignal,
): Promise<number> {
  let applied = 0;
  for (;;) {
    const waiting = await readWaitingDeliveries(warehouse, scope, deliveriesAtOnce);
    for (const delivery of waiting) {
      signal.throwIfAborted();
      const effect = await applyOrQuarantine(warehouse, delivery);
      if (effect === 'applied') {
        applied += 1;
        killPoint('delivery-applied');
      }
      // The delivery would be read again forever. Only calls in flight keep deliveries waiting, and their deliveries
      // are not read here.
      if (effect === 'waiting') return applied;
    }
    if (waiting.length < deliveriesAtOnce) return applied;
  }
}

/** Quarantines a delivery that the database refuses, so that other deliveries are applied. */
async function applyOrQuarantine(warehouse: Warehouse, delivery: WaitingDelivery): Promise<DeliveryEffect> {
  try {
    return await applyLateResult(warehouse, delivery, await contentOf(delivery));
  } catch (error) {
    if (canSucceedLater(error)) throw error;
    const code = databaseErrorCode(error);
    if (code === undefined) throw error;
    await quarantineDelivery(warehouse, delivery.deliveryId, `the database refuses it (${code})`);
    return 'quarantined';
  }
}
