import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  type BundleOptions,
  type WorkflowBundle,
  type WorkflowBundlePath,
} from '@temporalio/worker';
import { inject } from 'vitest';
import { compiledModule } from './compiled.ts';

/** For Temporal's SDK, whose progress is not what a test's output is read for. */
export const silentLogger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** What the SDK loads where payloads are encrypted: Node loads it by itself, so it has to be compiled. */
export const encodedFailures = () => ({
  failureConverterPath: fileURLToPath(compiledModule('workflows/encoded-failures.ts')),
});

/**
 * Bundles workflows as a worker does.
 *
 * @param path from this folder; the product's own unless said
 * @param more a failure converter as workers that encrypt have it, or interceptors of a test
 */
export function bundleWorkflows(
  path = '../../workflows/index.ts',
  more: Pick<BundleOptions, 'failureConverterPath' | 'workflowInterceptorModules'> = {},
): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL(path, import.meta.url)),
    logger: silentLogger,
    ...more,
  });
}

/** The bundle of the product's workflows that the workflow tests share. */
export function sharedWorkflowBundle(): WorkflowBundlePath {
  return { codePath: inject('workflowBundlePath') };
}
