import { Worker, type WorkerOptions } from '@temporalio/worker';
import { budgetPeriodNames } from './domain/money/budget-periods.ts';
import { createCallActivities, createControlActivities } from '../activities/index.ts';
import { runDefaults, serviceName, type Config, type ServiceSettings } from './config/settings.ts';
import { callTaskQueues, controlTaskQueue } from './contract/temporal-names.ts';
import { CallStreaks } from './calls/attempt-call.ts';
import { fetchRateWindows } from './calls/service-status.ts';
import { createAdmission, type AdmissionLimits } from './ledger/admit.ts';
import { CallQueue } from './ledger/call-queue.ts';
import { applyBudgetLimits, recordWorkerBudgets } from './ledger/credit-ledger.ts';
import { bulkMatchScope, countFreeSlots } from './ledger/rate-windows.ts';
import type { Lineage } from './monitoring/lineage.ts';
import { withoutPersonalData } from './domain/text/without-personal-data.ts';
import type { Logger } from './telemetry/log.ts';
import type { ProcessMetrics } from './telemetry/process-metrics.ts';
import { testStickyTimeout } from './telemetry/kill-point.ts';
import type { Tracing } from './telemetry/tracing.ts';
import { type CallObserver, createServiceClient, type ServiceClient } from './service/client.ts';
import { openWarehouse, type Warehouse } from './db/database.ts';
import { Problem } from './domain/problem.ts';
import { webhookPath } from './late-results/receiver.ts';
import {
  commonWorkerOptions,
  workflowBundle,
  workflowIsolate,
  type WorkerConnection,
} from './temporal/worker-options.ts';
import { ServiceFailure } from './service/failures/failure.ts';

export interface WorkerSettings {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly service: Pick<ServiceSettings, 'baseUrl' | 'credential'>;
  readonly temporal: WorkerConnection;
  /** URL at which the service reaches the receiver. Undefined if late results are only polled. */
  readonly webhookUrl: string | undefined;
  readonly metrics: ProcessMetrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly log: Logger;
  readonly lineage: Lineage | undefined;
}

export interface RunningWorker {
  stop(): Promise<void>;
  /** Rejects if the worker ended by itself. */
  readonly ended: Promise<void>;
}

/** Webhook URL without a receiver, because the service requires one. The domain cannot exist (RFC 2606): runs poll. */
const nowhere = 'https://no-receiver.invalid';
/** Number of database connections for activities of the control queue. */
const controlConnections = 6;
/** Maximum idle time of a transaction, so that a suspended or disconnected worker releases its locks. */
const idleTransactionMilliseconds = 60_000;
/** Statements of a call take milliseconds. A slower one is retried on another connection. */
const callStatementMilliseconds = 2 * 60_000;
/** Longest wait of an activity for a free slot. A longer wait becomes a timer that the Temporal UI shows. */
const patienceMilliseconds = 20_000;

/** Creates a worker process. Paid calls have task queues of their own, so that they do not delay ingest. */
export async function startWorker(settings: WorkerSettings): Promise<RunningWorker> {
  const { config, log, metrics, tracing } = settings;
  const connectionOptions = {
    applicationName: 'enrich worker',
    idleTransactionMilliseconds,
    onIdleError: (error: Error) => log.info(`an idle database connection ended: ${error.message}`),
  };
  const warehouse = openWarehouse(settings.databaseUrl, {
    ...connectionOptions,
    connections: controlConnections,
  });
  const callWarehouse = openWarehouse(settings.databaseUrl, {
    ...connectionOptions,
    // One connection for each call in flight, and one for each batch that waits for a slot.
    connections: 2 * config.callConcurrency,
    keepsPlans: true,
    queryMilliseconds: callStatementMilliseconds,
  });
  const client = createServiceClient({
    ...config.service,
    ...settings.service,
    observe: observeCalls(metrics, tracing),
  });
  const service = serviceName(config);
  const queue = new CallQueue({
    concurrency: config.callConcurrency,
    freeSlots: () =>
      countFreeSlots(callWarehouse.database, { service, scope: bulkMatchScope }, config.rateLimits),
    patienceMilliseconds,
  });
  const limits = {
    service,
    rateLimits: config.rateLimits,
    budgets: { ...config.budgets.perPeriod, alarmsAt: config.budgetAlarms },
  };
  const close = async (): Promise<void> => {
    await queue.close();
    await client.close();
    await Promise.all([warehouse.close(), callWarehouse.close()]);
  };
  try {
    const parts = { warehouse, callWarehouse, client, limits, queue };
    const workers = await createWorkers(await workerOptions(settings, parts));
    const drain = (): void => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      queue.handBack();
    };
    const run = async (): Promise<void> => {
      try {
        await runWorkers(workers, drain);
      } catch (error) {
        throw failed('worker.failed', 'the worker failed', error);
      } finally {
        await close();
      }
    };
    const ended = run();
    // The session handles this failure later, when it waits for the end of the worker.
    ended.catch(() => {});
    return {
      ended,
      stop: async () => {
        drain();
        await ended;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface WorkerParts {
  readonly warehouse: Warehouse;
  readonly callWarehouse: Warehouse;
  readonly client: ServiceClient;
  readonly limits: AdmissionLimits;
  readonly queue: CallQueue;
}

/** Makes the options of the control worker, and of a worker for each queue of calls. */
async function workerOptions(
  settings: WorkerSettings,
  { warehouse, callWarehouse, client, limits, queue }: WorkerParts,
): Promise<WorkerOptions[]> {
  const { config, log, metrics } = settings;
  const { service, budgets } = limits;
  await recordWorkerBudgets(warehouse.database, budgets);
  await applyBudgetLimits(warehouse.database, budgets);
  const unknown = await fetchRateWindows(warehouse, service, client);
  if (unknown) log.debug({ err: unknown }, 'the service does not tell what is used of its rate windows');
  const shared = {
    warehouse,
    service,
    client,
    rateLimits: config.rateLimits,
    budgets,
    callConcurrency: config.callConcurrency,
    callTimeoutSeconds: config.service.callTimeoutSeconds,
    pollAfterSeconds: config.lateResults.pollAfterSeconds,
  };
  const options = commonWorkerOptions(settings.temporal, config, settings.tracing);
  const controlWorker = {
    ...options,
    workflowBundle: workflowBundle(config),
    ...workflowIsolate,
    ...testStickyTimeout(),
    taskQueue: controlTaskQueue,
    activities: createControlActivities({
      ...shared,
      exportAccess: { ...config.exportAccess, pool: warehouse.pool },
      onIngested: (rows) => metrics?.countRows(rows),
      isDeliveredTo: settings.webhookUrl !== undefined,
      defaults: runDefaults(config),
      hasPeriodBudget: budgetPeriodNames.some((period) => budgets[period] !== undefined),
      retention: config.retention,
      lineage: settings.lineage,
      log,
    }),
    maxConcurrentActivityTaskExecutions: 4,
  };
  const callActivities = createCallActivities(
    {
      ...shared,
      warehouse: callWarehouse,
      queue,
      limits,
      admit: createAdmission(callWarehouse.database, limits),
      patienceMilliseconds,
      streaks: new CallStreaks(),
      webhookUrl: (token) => `${settings.webhookUrl ?? nowhere}${webhookPath}${token}`,
      onBudgetAlarm: (alarm) => log.warn(alarm, 'settled and reserved credits reached an alarm of a budget'),
    },
    log,
  );
  const callWorkers = Object.values(callTaskQueues).map((taskQueue) => ({
    ...options,
    taskQueue,
    activities: callActivities,
    // Twice as many slots as calls: the next batch then already waits in the worker when a call ends. A batch that
    // first had to come from Temporal would lose to a call of lower priority.
    maxConcurrentActivityTaskExecutions: 2 * config.callConcurrency,
  }));
  return [controlWorker, ...callWorkers];
}

/** Creates all workers, or none. @throws Problem */
async function createWorkers(all: readonly WorkerOptions[]): Promise<Worker[]> {
  const created = await Promise.allSettled(all.map((options) => Worker.create(options)));
  const workers = created.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failure = created.find((each) => each.status === 'rejected');
  if (!failure) return workers;
  // The SDK frees the threads and the connection of a worker only after the worker has run.
  await Promise.allSettled(workers.map((worker) => worker.runUntil(Promise.resolve())));
  throw failed('worker.not-started', 'the worker cannot start', failure.reason);
}

function failed(type: string, what: string, cause: unknown): Problem {
  return new Problem(type, `${what}: ${withoutPersonalData((cause as Error).message)}`, {
    next: 'enrich doctor checks the set-up; then run the command again, which continues the run',
    cause,
  });
}

/** Makes an observer that counts and traces calls. Undefined without metrics and traces. */
export function observeCalls(
  metrics: ProcessMetrics | undefined,
  tracing: Tracing | undefined,
): CallObserver | undefined {
  if (!metrics && !tracing) return undefined;
  return async ({ name }, call) => {
    const ended = metrics?.startCall(name);
    try {
      const answer = await (tracing ? tracing.call(name, call, typeOf) : call());
      ended?.('answered');
      return answer;
    } catch (error) {
      ended?.(error instanceof ServiceFailure ? error.disposition : 'unknown', typeOf(error));
      throw error;
    }
  };
}

function typeOf(error: unknown): string {
  return error instanceof ServiceFailure ? error.type : 'internal';
}

export type WorkerToRun = Pick<Worker, 'run' | 'getState'>;

/** Time between two checks whether a worker has failed. */
const lookMilliseconds = 5_000;

/** Runs workers until all have ended. If one worker fails, the others drain, so that calls in flight are recorded. */
export async function runWorkers(workers: readonly WorkerToRun[], drain: () => void): Promise<void> {
  const runs = await Promise.allSettled(workers.map((worker) => runWorker(worker).finally(drain)));
  const failure = runs.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
}

/** Runs a worker. After some errors, `run()` waits forever, and only the worker's state shows the failure. */
async function runWorker(worker: WorkerToRun): Promise<void> {
  let look: NodeJS.Timeout | undefined;
  const pollFailed = new Promise<never>((_, reject) => {
    let hadFailed = false;
    look = setInterval(() => {
      const hasFailed = worker.getState() === 'FAILED';
      // `run()` ends with an error of its own soon after most failures, so a worker must be FAILED in two checks in a
      // row.
      if (hasFailed && hadFailed) reject(new Error('it can poll Temporal no longer; its log has the error'));
      hadFailed = hasFailed;
    }, lookMilliseconds);
  });
  try {
    await Promise.race([worker.run(), pollFailed]);
  } finally {
    clearInterval(look);
  }
}
