import type { PayloadCodec, WorkerDeploymentVersion } from '@temporalio/common';
import type { ActivityInterceptorsFactory, NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config/settings.ts';
import { projectFile } from '../files/project-file.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { workerVersioning } from './worker-versioning.ts';

/** How workers reach Temporal. */
export interface WorkerConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** What payloads are encrypted with. */
  readonly codec: PayloadCodec;
  /** Undefined: runs are not pinned to the version of their worker. */
  readonly version: WorkerDeploymentVersion | undefined;
}

/** Beyond the longest call and its recording; a deploy must not cut off a call that is paid for. */
const graceSecondsBeyondCall = 30;

/** What the workers of all queues have in common. */
export function commonWorkerOptions(
  { connection, namespace, codec, version }: WorkerConnection,
  config: Config,
  tracing: Tracing | undefined,
): Pick<
  WorkerOptions,
  | 'connection'
  | 'namespace'
  | 'workerDeploymentOptions'
  | 'dataConverter'
  | 'shutdownGraceTime'
  | 'shutdownForceTime'
  | 'interceptors'
  | 'maxHeartbeatThrottleInterval'
> {
  const { callTimeoutSeconds } = config.service;
  return {
    connection,
    namespace,
    ...workerVersioning(version),
    dataConverter: {
      payloadCodecs: [codec],
      ...(encrypts(config) && { failureConverterPath: compiledPath('workflows/encoded-failures.js') }),
    },
    // The SDK sends a heartbeat only after 80 % of its timeout: one that was two seconds late ended the activity. Each
    // is billed, so not more than needed.
    maxHeartbeatThrottleInterval: '5 seconds',
    shutdownGraceTime: `${callTimeoutSeconds + graceSecondsBeyondCall} seconds`,
    shutdownForceTime: `${callTimeoutSeconds + 2 * graceSecondsBeyondCall} seconds`,
    ...(tracing && { interceptors: { activity: [tracedActivity(tracing)] } }),
  };
}

function encrypts({ temporalCodec }: Config): boolean {
  return temporalCodec !== undefined;
}

function tracedActivity(tracing: Tracing): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: (input, next) =>
        tracing.activity(
          {
            workflowId: info.workflowExecution?.workflowId ?? info.activityId,
            type: info.activityType,
            attempt: info.attempt,
          },
          () => next(input),
        ),
    },
  });
}

/**
 * The bundle that the build made. The failure converter is part of a bundle, so workers that encrypt have their own.
 */
export function workflowBundle(config: Config): { codePath: string } {
  return {
    codePath: compiledPath(encrypts(config) ? 'workflow-bundle-encrypting.js' : 'workflow-bundle.js'),
  };
}

/** A file of dist. Temporal's threads load it, and Node runs no TypeScript, which the tests import this module as. */
function compiledPath(file: string): string {
  return projectFile(`dist/${file}`);
}
