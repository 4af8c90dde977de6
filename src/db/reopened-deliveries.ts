import { ofAnotherCall } from '../domain/late-results/delivery-status.ts';

/** SQL assignments that reset a row of `webhook_deliveries` to `received`. */
export const resetToReceived = `status = 'received', reason = null, applied_at = null, subject = null,
    covers = '{}', brings = '{}', credits = null`;

/** SQL condition on `webhook_deliveries`: nobody in a readable delivery was known to be a person of its call. */
export const hadNobody = `(status = 'orphaned' or (status = 'quarantined' and reason = '${ofAnotherCall}'))`;
