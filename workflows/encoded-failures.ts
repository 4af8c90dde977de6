import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Moves the message and stack trace of failures into payloads, which are encrypted. Temporal's SDK loads this file by
 * its path, in the worker and in the workflow bundle. Clients can read failures without it.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
