import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Moves the message and the stack trace of every failure into a payload, so that they are encrypted as payloads are.
 * Temporal's SDK loads it by its path, in the worker and in the bundle of its workflows. Failures of either form are
 * read without it.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
