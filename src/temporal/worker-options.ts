import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { ActivityInterceptorsFactory, NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config/settings.ts';
import { projectFile } from '../files/project-file.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { EncryptingCodec } from './payload-codec.ts';
import { hashSharedSettings, workerIdentity } from './worker-identity.ts';

export interface WorkerConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly codec: EncryptingCodec;
  readonly version: WorkerDeploymentVersion | undefined;
}

/** Time to record an answer after the longest call, so that a deployment does not cut off a paid call. */
const graceSecondsBeyondCall = 30;

/** Makes the options that all workers of a process share. */
export function commonWorkerOptions(
  { connection, namespace, codec, version }: WorkerConnection,
  config: Config,
  tracing: Tracing | undefined,
) {
  const { callTimeoutSeconds } = config.service;
  return {
    connection,
    namespace,
    identity: workerIdentity(hashSharedSettings(config, codec.keyName)),
    ...workerVersioning(version),
    dataConverter: {
      payloadCodecs: [codec],
      ...(config.temporalCodec && {
        failureConverterPath: projectFile('dist/workflows/encoded-failures.js'),
      }),
    },
    // The SDK sends heartbeats after 80% of the timeout by default, so a delay of two seconds ended the activity. A
    // longer interval than 5 s would risk this again; a shorter one costs more, because Temporal bills heartbeats.
    maxHeartbeatThrottleInterval: '5 seconds',
    shutdownGraceTime: `${callTimeoutSeconds + graceSecondsBeyondCall} seconds`,
    // After this time, calls that are still in flight are cut off.
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

/** The bundle of `dist`: Temporal's threads cannot load TypeScript. With encryption, it has a failure converter. */
export function workflowBundle({ temporalCodec }: Config): { codePath: string } {
  return { codePath: projectFile(`dist/workflow-bundle${temporalCodec ? '-encrypting' : ''}.js`) };
}

/** Pins workflows to a version: a run stays on its version, so every task queue needs a worker of this version. */
export function workerVersioning(
  version: WorkerDeploymentVersion | undefined,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version === undefined) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' },
  };
}

/**
 * Turns off the SDK's watchdog, which interrupts a workflow task after 5 s, although an overloaded machine can pause
 * longer. An interrupted promise can end Node.js (nodejs/node#38503). The SDK's types lack the option; a test checks
 * that it is passed on.
 */
export const workflowIsolate = { isolateExecutionTimeout: '1 day' };
