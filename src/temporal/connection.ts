import type { Client, Connection, ConnectionOptions } from '@temporalio/client';
import type { NativeConnection, NativeConnectionOptions } from '@temporalio/worker';
import { callTaskQueues, controlTaskQueue, searchAttributes } from '../contract/temporal-names.ts';
import { Problem, UsageProblem } from '../domain/problem.ts';
import { formatElapsed } from '../domain/text/duration.ts';
import type { EncryptingCodec } from './payload-codec.ts';
import { settingsHashOfWorker } from './worker-identity.ts';

export interface TemporalAddress {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | undefined;
  /** True for the embedded server. Its connection ignores TLS settings and keys, which are for another server. */
  readonly embedded: boolean;
}

/** gRPC's code for something that does not exist. */
const notFound = 5;

// Temporal's packages load only when a command needs them: loading takes longer than most commands.
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

/** Connects a client to Temporal. @param codec must have the keys of the workers */
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

/** Maximum age of a live worker's last poll: a minute of an empty poll, latency, and clocks that differ. */
const longestPollSeconds = 75;
/** Types of task queues in Temporal's interface. */
const workflowTasks = 1;
const activityTasks = 2;

/** Reads when workers last polled two queues: a busy worker can stop polling one. @param now by the database's clock */
export async function readWorkerPoll(client: Client, now: Date) {
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
      settings: settingsHashOfWorker(identity ?? ''),
    }));
  const secondsAgo = polls.length === 0 ? undefined : Math.min(...polls.map((poll) => poll.secondsAgo));
  const live = polls.filter((poll) => poll.secondsAgo <= longestPollSeconds);
  const settings = new Set(live.map((poll) => poll.settings));
  return {
    /** Undefined if no worker has polled within five minutes. */
    secondsAgo,
    isLost: live.length === 0,
    /** Hashes of the settings of live workers, without repetition. */
    settings: [...settings].filter((marks) => marks !== undefined),
  };
}

export function describeWorkerPoll({ secondsAgo, isLost }: Awaited<ReturnType<typeof readWorkerPoll>>) {
  if (secondsAgo === undefined) return 'no worker has polled in the last five minutes';
  const ago = formatElapsed(secondsAgo);
  return isLost ? `no worker has polled for ${ago}` : `a worker polled ${ago} ago`;
}

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
    await addSearchAttributes(operatorService, client.options.namespace);
    return true;
  } catch (error) {
    const { isGrpcServiceError } = await import('@temporalio/client');
    if (isGrpcServiceError(error)) return false;
    throw error;
  }
}

/** True if no workflow with this id is open: it has ended, or was never started. */
export function isWorkflowGone(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowNotFoundError';
}

/** True if a workflow refused an update, or ended before it answered the update. */
export function isUpdateRefused(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'WorkflowUpdateFailedError' &&
    (error.cause as Error | undefined)?.name === 'ApplicationFailure'
  );
}

/** Turns the error of an unknown namespace or of an unreachable server into a Problem. Other errors stay unchanged. */
export function describeTemporalFailure(error: unknown, temporal: TemporalAddress): unknown {
  if (isTemporalUnreachable(error)) return unreachable(temporal, error);
  return isNamespaceUnknown(error) ? unknownNamespace(temporal, error) : error;
}

/** Refuses a namespace that the server does not have. The calls that follow report any other failure. */
export async function requireNamespace(client: Client, temporal: TemporalAddress): Promise<void> {
  const { namespace } = temporal;
  try {
    await client.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if ((error as { code?: unknown }).code === notFound) throw unknownNamespace(temporal, error);
  }
}

/** Recognises an unknown namespace. Calls below the SDK's own methods fail with a plain gRPC error. */
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

/** gRPC codes of a call without an answer: the deadline has passed, or the server is unreachable. */
const codesWithoutAnswer: readonly unknown[] = [4, 14];

export function isTemporalUnreachable(error: unknown): boolean {
  return causesOf(error).some(
    ({ code, details }) => codesWithoutAnswer.includes(code) && details !== undefined,
  );
}

interface GrpcError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly details?: unknown;
}

/** Returns an error and its cause, because the SDK wraps errors of gRPC. */
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

/** Numbers of the attribute types in Temporal's interface (`IndexedValueType`). */
const typeNumbers = { Keyword: 2, Int: 3, Double: 4, Datetime: 6 } as const;

const connectSeconds = 5;

/** True if an embedded server answers and has the namespace. */
export async function isServing(port: number, namespace: string): Promise<boolean> {
  return withConnection(`127.0.0.1:${port}`, async (connection) => {
    await connection.workflowService.describeNamespace({ namespace });
    return true;
  }).catch(() => false);
}

/** Gives the namespace of the embedded server its retention and the search attributes of runs. */
export async function prepareNamespace(
  address: string,
  namespace: string,
  retentionDays: number,
): Promise<void> {
  await withConnection(address, async ({ workflowService, operatorService }) => {
    const { config } = await workflowService.describeNamespace({ namespace });
    const retention = retentionDays * 86_400;
    if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) < retention) {
      const { msToTs } = await import('@temporalio/common/lib/time.js');
      await workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: msToTs(retention * 1000) },
      });
    }
    await addSearchAttributes(operatorService, namespace);
  });
}

async function addSearchAttributes(
  operatorService: Connection['operatorService'],
  namespace: string,
): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(searchAttributes).filter(([name]) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, typeNumbers[type]])),
  });
}

async function withConnection<Result>(
  address: string,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  // Loading the client takes longer than a command that does not need Temporal.
  const { Connection } = await import('@temporalio/client');
  // `Connection.connect` is avoided, because its channel keeps trying in the background after a failure.
  const connection = Connection.lazy({ address, connectTimeout: connectSeconds * 1000 });
  try {
    await connection.ensureConnected();
    return await connection.withDeadline(Date.now() + connectSeconds * 1000, () => use(connection));
  } finally {
    await connection.close();
  }
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;

/** gRPC's code for a cancelled call. */
const cancelled = 1;

/**
 * Ends a call whose retry is due after the connection was closed. Without this, gRPC throws in the retry's timer, which
 * crashes the stopping process. It must come after the interceptor that retries calls.
 */
const endCallsOfClosedConnection: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch {
    return deadCall as unknown as Call;
  }
};

/** A call that ends at once, as cancelled. */
const deadCall: ReturnType<Parameters<Interceptor>[1]> = {
  start(metadata, listener) {
    const details = 'the connection to Temporal is closed';
    process.nextTick(() => {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ code: cancelled, details, metadata });
    });
  },
  sendMessage: () => {},
  sendMessageWithContext: () => {},
  startRead: () => {},
  halfClose: () => {},
  cancelWithStatus: () => {},
  getPeer: () => '',
  getAuthContext: () => null,
};
