import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker';

/** For Temporal's SDK, whose progress is not what a test's output is read for. */
export const silentLogger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/**
 * Bundles workflows as a worker does.
 *
 * @param path from this folder; the product's own unless said
 */
export function bundleWorkflows(path = '../../workflows/index.ts'): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL(path, import.meta.url)),
    logger: silentLogger,
  });
}
