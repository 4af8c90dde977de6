import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  type BundleOptions,
  type WorkflowBundle,
  type WorkflowBundlePath,
} from '@temporalio/worker';
import { inject } from 'vitest';
import { compiledModule } from '../system/compiled.ts';

/** Keeps the progress of Temporal's SDK out of the tests' output. */
export const silentLogger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** The failure converter of encrypted payloads. Node loads the module, so it must be compiled. */
export const encodedFailures = () => ({
  failureConverterPath: fileURLToPath(compiledModule('workflows/encoded-failures.ts')),
});

/**
 * Bundles workflows as a worker does.
 *
 * @param path relative to this folder; default: the product's workflows
 * @param more a failure converter, as of workers with encryption, or interceptors of a test
 */
export function bundleWorkflows(
  path = '../../../workflows/index.ts',
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
