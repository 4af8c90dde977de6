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

/** Returns the failure converter of encrypted payloads. Node loads the module, so it must be compiled. */
export const encodedFailures = () => ({
  failureConverterPath: fileURLToPath(compiledModule('workflows/encoded-failures.ts')),
});

/** Bundles the product's workflows as the build does. @param more interceptors of a test */
export function bundleWorkflows(
  more: Pick<BundleOptions, 'workflowInterceptorModules'> = {},
): Promise<WorkflowBundle> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../../workflows/index.ts', import.meta.url)),
    logger: silentLogger,
    ...more,
  });
}

/** Returns a bundle of the build, as workers load it. A new bundle would take five seconds of processor time. */
export function builtWorkflowBundle(
  name: 'workflow-bundle' | 'workflow-bundle-encrypting',
): WorkflowBundlePath {
  return { codePath: fileURLToPath(compiledModule(`${name}.js`)) };
}

/** Returns the bundle of the product's workflows that all workflow tests share. */
export function sharedWorkflowBundle(): WorkflowBundlePath {
  return { codePath: inject('workflowBundlePath') };
}
