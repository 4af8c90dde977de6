import type { Client, Connection, ConnectionOptions } from '@temporalio/client';
import type { NativeConnection, NativeConnectionOptions } from '@temporalio/worker';
import { callTaskQueues, controlTaskQueue, searchAttributes } from '../contract/temporal-names.ts';
import { addSearchAttributes } from './namespace.ts';
import { Problem, UsageProblem } from '../domain/problem.ts';
import { formatElapsed } from '../domain/text/duration.ts';
import { endCallsOfClosedConnection } from './closed-connection.ts';
import type { EncryptingCodec } from './payload-codec.ts';
import { marksOfWorker } from './worker-identity.ts';

/** Address of the embedded server, or of the server in Temporal's environment configuration. */
export interface TemporalAddress {
  readonly address: string;
  readonly namespace: string;
  /** Undefined: unknown. */
  readonly uiUrl: string | undefined;
  /** The connection then ignores the environment's TLS settings and key, which are for another server. */
  readonly embedded: boolean;
}

/** gRPC's code of something that does not exist. */
const notFound = 5;

// Loads Temporal's packages only when they are used: most commands connect to no server, and loading takes longer than
// such a command.
async function connectionOptions(
  temporal: TemporalAddress,
): Promise<ConnectionOptions & NativeConnectionOptions> {
  if (temporal.embedded) return { address: temporal.address };
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  const { tls, apiKey, metadata } = loadClientConnectConfig().connectionOptions;
  return {
    address: temporal.address,
    ...(tls !== undefined && { tls }),
    ...(typeof apiKey === 'string' && { apiKey }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** Connects a client. @param codec must have the keys of the workers */
export async function connectClient(temporal: TemporalAddress, codec: EncryptingCodec): Promise<Client> {
  const { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } =
    await import('@temporalio/client');
  try {
    const connection = await Connection.connect({
      ...(await connectionOptions(temporal)),
      connectTimeout: '10 seconds',
      interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endCallsOfClosedConnection],
    });
    return new Client({
      connection,
      namespace: temporal.namespace,
      dataConverter: { payloadCodecs: [codec] },
    });
  } catch (error) {
    throw unreachable(temporal, error);
  }
}

/**
 * A worker polls again when a poll ends, and Temporal ends an empty poll after a minute. Allows for latency and for
 * clocks that differ by seconds.
 */
const longestPollSeconds = 75;
const workflowTasks = 1;
const activityTasks = 2;

/** When a worker last polled, according to Temporal, and what its live workers say of themselves. */
export interface WorkerPoll {
  /** Undefined: no worker has polled within five minutes. */
  readonly secondsAgo: number | undefined;
  readonly isLost: boolean;
  /** The names of the keys with which live workers encrypt. */
  readonly keyNames: readonly string[];
  /** A live worker has no keys. */
  readonly isPlain: boolean;
  readonly settings: readonly string[];
}

/**
 * Reads the last poll of any worker. Each worker polls all queues, but a busy worker can leave out a queue.
 *
 * @param now by the clock of a server, because the clock of this machine may be minutes off. Temporal does not tell its
 *   own, and the database's clock is the next best
 */
export async function readWorkerPoll(client: Client, now: Date): Promise<WorkerPoll> {
  const queues = [
    [controlTaskQueue, workflowTasks],
    [callTaskQueues['ad-hoc'], activityTasks],
  ] as const;
  const described = await Promise.all(
    queues.map(([name, taskQueueType]) =>
      client.workflowService.describeTaskQueue({
        namespace: client.options.namespace,
        taskQueue: { name },
        taskQueueType,
      }),
    ),
  );
  const polls = described
    .flatMap(({ pollers }) => pollers ?? [])
    .map(({ lastAccessTime, identity }) => ({
      secondsAgo: Math.max(0, Math.round(now.getTime() / 1_000 - Number(lastAccessTime?.seconds ?? 0))),
      ...marksOfWorker(identity ?? ''),
    }));
  const secondsAgo = polls.length === 0 ? undefined : Math.min(...polls.map((poll) => poll.secondsAgo));
  const live = polls.filter((poll) => poll.secondsAgo <= longestPollSeconds);
  const keys = new Set(live.map(({ key }) => key));
  const settings = new Set(live.map((poll) => poll.settings));
  return {
    secondsAgo,
    isLost: live.length === 0,
    keyNames: [...keys].filter((name) => name !== undefined),
    isPlain: keys.has(undefined),
    settings: [...settings].filter((marks) => marks !== undefined),
  };
}

export function describeWorkerPoll({ secondsAgo, isLost }: WorkerPoll): string {
  if (secondsAgo === undefined) return 'no worker has polled in the last five minutes';
  const ago = formatElapsed(secondsAgo);
  return isLost ? `no worker has polled for ${ago}` : `a worker polled ${ago} ago`;
}

export function describePlainText(keyNames: readonly string[]): string {
  return `the workers encrypt what Temporal stores (key ${keyNames.join(', ')}), and this command writes plain text`;
}

export const afterPlainText = 'set TEMPORAL_CODEC_KEYS or TEMPORAL_CODEC_KEYS_FILE as for the workers';

export async function connectWorker(temporal: TemporalAddress): Promise<NativeConnection> {
  const { NativeConnection } = await import('@temporalio/worker');
  try {
    return await NativeConnection.connect(await connectionOptions(temporal));
  } catch (error) {
    throw unreachable(temporal, error);
  }
}

/** Registers the search attributes of runs in the namespace. @returns false if the server refuses */
export async function registerSearchAttributes(client: Client): Promise<boolean> {
  const { operatorService } = client.connection as Connection;
  try {
    await addSearchAttributes(operatorService, client.options.namespace, searchAttributes);
    return true;
  } catch (error) {
    const { isGrpcServiceError } = await import('@temporalio/client');
    if (isGrpcServiceError(error)) return false;
    throw error;
  }
}

/** Whether the workflow is unknown to the server or has ended. */
export function isWorkflowGone(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowNotFoundError';
}

/** Whether a workflow refused an update, or ended before it answered. A failed activity of the update is no refusal. */
export function isUpdateRefused(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'WorkflowUpdateFailedError' &&
    (error.cause as Error | undefined)?.name === 'ApplicationFailure'
  );
}

/**
 * Turns the error of an unknown namespace, or of a server that does not answer, into a Problem. Any other error is
 * returned unchanged.
 */
export function describeTemporalFailure(error: unknown, temporal: TemporalAddress): unknown {
  if (isTemporalAway(error)) return unreachable(temporal, error);
  return isNamespaceUnknown(error) ? unknownNamespace(temporal, error) : error;
}

/** Refuses a namespace that the server does not have. Another failure is left to the calls that follow. */
export async function requireNamespace(client: Client, temporal: TemporalAddress): Promise<void> {
  const { namespace } = temporal;
  try {
    await client.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if ((error as { code?: unknown }).code === notFound) throw unknownNamespace(temporal, error);
  }
}

/** Calls below the SDK's own methods fail with the plain error of gRPC. */
function isNamespaceUnknown(error: unknown): boolean {
  return causesOf(error).some(
    ({ name, code, details }) =>
      name === 'NamespaceNotFoundError' ||
      (code === notFound && /^Namespace .* is not found/.test(String(details))),
  );
}

function unknownNamespace({ address, namespace }: TemporalAddress, cause: unknown): UsageProblem {
  return new UsageProblem('temporal.namespace-unknown', `Temporal has no namespace "${namespace}"`, {
    where: address,
    next: 'correct TEMPORAL_NAMESPACE, or create it: temporal operator namespace create NAME',
    cause,
  });
}

/** gRPC's codes of a call without an answer: the deadline has passed, or the server is not there. */
const codesWithoutAnswer: readonly unknown[] = [4, 14];

export function isTemporalAway(error: unknown): boolean {
  return causesOf(error).some(
    ({ code, details }) => codesWithoutAnswer.includes(code) && details !== undefined,
  );
}

interface GrpcError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly details?: unknown;
}

function causesOf(error: unknown): GrpcError[] {
  return [error, (error as { cause?: unknown } | undefined)?.cause].map((each) => (each ?? {}) as GrpcError);
}

function unreachable(temporal: TemporalAddress, cause: unknown): Problem {
  return new Problem('temporal.unreachable', 'Temporal does not answer', {
    where: temporal.address,
    next: 'check TEMPORAL_ADDRESS and that the server is running there, or unset it to use the embedded dev server',
    cause,
  });
}
