import { ofAnotherCall } from '../domain/late-results/delivery-status.ts';

/** SQL assignments that reset a row of `webhook_deliveries` to `received`. */
export const resetToReceived = `status = 'received', reason = null, applied_at = null, subject = null,
    covers = '{}', brings = '{}', credits = null`;

/** SQL condition: all people in a readable delivery `d` were strangers to its call. */
export const hadOnlyStrangers = `(
  d.status = 'orphaned' or (d.status = 'quarantined' and d.reason = '${ofAnotherCall}'))`;
