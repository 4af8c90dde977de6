import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { ActivityInterceptorsFactory, NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config/settings.ts';
import { projectFile } from '../files/project-file.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { EncryptingCodec } from './payload-codec.ts';
import { markSettings, workerIdentity } from './worker-identity.ts';

export interface WorkerConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly codec: EncryptingCodec;
  readonly version: WorkerDeploymentVersion | undefined;
}

/** Time to record an answer after the longest call: a deployment must not cut off a paid call. */
const graceSecondsBeyondCall = 30;

export function commonWorkerOptions(
  { connection, namespace, codec, version }: WorkerConnection,
  config: Config,
  tracing: Tracing | undefined,
) {
  const { callTimeoutSeconds } = config.service;
  return {
    connection,
    namespace,
    identity: workerIdentity(markSettings(config, codec.keyName)),
    ...workerVersioning(version),
    dataConverter: {
      payloadCodecs: [codec],
      ...(config.temporalCodec && {
        failureConverterPath: projectFile('dist/workflows/encoded-failures.js'),
      }),
    },
    // By default the SDK sends a heartbeat after 80% of its timeout, and a delay of two seconds ended the activity. Not
    // more often than needed, because Temporal bills each heartbeat.
    maxHeartbeatThrottleInterval: '5 seconds',
    shutdownGraceTime: `${callTimeoutSeconds + graceSecondsBeyondCall} seconds`,
    // Its calls are then cut off.
    shutdownForceTime: `${callTimeoutSeconds + 2 * graceSecondsBeyondCall} seconds`,
    ...(tracing && { interceptors: { activity: [tracedActivity(tracing)] } }),
  } satisfies Partial<WorkerOptions>;
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
 * The bundle of workflows: a file of `dist`, because Temporal's threads load it without TypeScript, also in tests.
 * Workers that encrypt have a bundle of their own, which includes the failure converter.
 */
export function workflowBundle({ temporalCodec }: Config): { codePath: string } {
  return { codePath: projectFile(`dist/workflow-bundle${temporalCodec ? '-encrypting' : ''}.js`) };
}

/** Workflows are pinned: a run stays on its version, so every task queue needs a worker of this version. */
export function workerVersioning(
  version: WorkerDeploymentVersion | undefined,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version === undefined) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' },
  };
}

/**
 * The SDK's watchdog ends a workflow task after 5 s, and an overloaded machine can stop for longer. If it interrupts a
 * promise, Node can end the process (nodejs/node#38503). The workflows have no loop without a wait: no watchdog. The
 * types of the SDK lack the option; a test checks that the SDK passes it on.
 */
export const workflowIsolate = { isolateExecutionTimeout: '1 day' };
