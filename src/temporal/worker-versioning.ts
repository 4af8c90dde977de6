import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';

/**
 * Options of a worker for Temporal's Worker Versioning. Workflows are pinned: a run, its pages and its calls stay on
 * the version on which the run began, so every task queue needs a worker of this version.
 *
 * @param version undefined: not versioned
 */
export function workerVersioning(
  version: WorkerDeploymentVersion | undefined,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version === undefined) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' },
  };
}
