import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Moves the message and the stack trace of every failure into a payload, so that they are encrypted like payloads.
 * Temporal's SDK loads this file by its path, in the worker and in the bundle of its workflows. Clients read failures
 * of both forms without it.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
