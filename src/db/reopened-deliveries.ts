import { ofAnotherCall } from '../domain/late-results/delivery-status.ts';

/** SQL assignments that reset a row of `webhook_deliveries` to `received`. */
export const resetToReceived = `status = 'received', reason = null, applied_at = null, subject = null,
    covers = '{}', brings = '{}', credits = null`;

/**
 * SQL condition: all people in a readable delivery were strangers to its call. @param alias alias of the delivery
 */
export function hadOnlyStrangers(alias: string): string {
  return `(${alias}.status = 'orphaned' or (${alias}.status = 'quarantined' and ${alias}.reason = '${ofAnotherCall}'))`;
}
