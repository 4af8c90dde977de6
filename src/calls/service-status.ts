import { formatDuration } from '../domain/text/duration.ts';
import { UsageProblem, exitCodes, Problem } from '../domain/problem.ts';
import {
  readRateWindows,
  readDatabaseClockText,
  recordRateReports,
  type RateWindow,
  bulkMatchScope,
  matchScope,
  webhookResultScope,
} from '../ledger/rate-windows.ts';
import type { ServiceClient, OperationUsage } from '../service/client.ts';
import { ServiceFailure, type FailureType } from '../service/failures/failure.ts';
import { pollWithinLimits, type PollDependencies } from '../late-results/sync-late-results.ts';
import type { Warehouse } from '../db/database.ts';
import type { ServiceCheck } from '../contract/activities.ts';
import { lateKindsRequestedBy } from '../domain/late-results/delivery-kinds.ts';
import type { Logger } from '../telemetry/log.ts';
import { getRun } from '../runs/runs.ts';
import { recordCreditStatement, sumCreditStatement } from '../ledger/credit-statements.ts';
import { isTransientDatabaseError, databaseErrorCode } from '../db/postgres-errors.ts';

/** The user of the credential, or why this user is unknown. */
type ActingUser =
  | { readonly userId: string }
  | { readonly unknown: ServiceFailure; readonly credentialWorks: boolean };

type ServiceStatus = Awaited<ReturnType<typeof readServiceStatus>>;

/** Maximum time that a run waits for the service's status or its count of credits. */
const patienceMilliseconds = 10_000;
/** A request id that belongs to no request. */
const unknownRequestId = '0';

/**
 * Checks the credential with free requests before a run spends credits, and reads the service's rate windows for later
 * calls. A missing endpoint stops no run: the first paid call shows whether the key may enrich, and a refused call
 * costs nothing.
 *
 * @param needs.polls true: late results come only by polls, so the key must be allowed to poll
 * @throws Problem `service.credential-refused`, `service.scope-missing`
 */
export async function readServiceStatus(dependencies: PollDependencies, needs: { readonly polls: boolean }) {
  const { warehouse, service, client } = dependencies;
  const user = await readActingUser(client);
  const usageUnknown = await fetchRateWindows(warehouse, service, client);
  if (needs.polls) await tryPolling(dependencies);
  return {
    user,
    /** Rate windows of bulk calls with a limit, as the service reports them, the shortest first. */
    windows: await readRateWindows(warehouse.database, { service, scope: bulkMatchScope }, []),
    /** Why the service does not report the use of its rate windows; undefined if it does. */
    usageUnknown,
  };
}

/**
 * Requests the profile of the credential's user. Status 200 confirms the credential. If the answer leaves this open,
 * the health endpoint decides.
 *
 * @throws Problem `service.credential-refused`
 */
export async function readActingUser(client: ServiceClient): Promise<ActingUser> {
  const signal = AbortSignal.timeout(patienceMilliseconds);
  try {
    return { userId: (await client.profile(signal)).id };
  } catch (error) {
    // A 403 only shows that the key may not read the profile. The key can still be allowed to enrich.
    const unknown = failureOf(client, error, 'unauthorized', 'not-sent.no-token');
    const credentialWorks = unknown.httpStatus !== undefined && (await askHealth(client, signal));
    return { unknown, credentialWorks };
  }
}

/**
 * Requests the health endpoint.
 *
 * @returns true if the service confirms the credential; false if the answer leaves this open
 */
async function askHealth(client: ServiceClient, signal: AbortSignal): Promise<boolean> {
  try {
    if ((await client.health(signal)).credentialWorks) return true;
  } catch (error) {
    failureOf(client, error, 'unauthorized', 'forbidden', 'not-sent.no-token');
    return false;
  }
  throw refused(client, 'the service refuses the credential', 'GET /auth/health');
}

/** Returns the failure of a free request to the service. @throws Problem if the service refuses the credential */
function failureOf(
  client: ServiceClient,
  error: unknown,
  ...refusals: readonly FailureType[]
): ServiceFailure {
  if (!(error instanceof ServiceFailure)) throw error;
  if (refusals.includes(error.type)) throw refused(client, error.message, error.where, error);
  return error;
}

/** Polls a request id that belongs to no request. The answer shows whether the key may poll. */
async function tryPolling(dependencies: PollDependencies): Promise<void> {
  try {
    await pollWithinLimits(dependencies, unknownRequestId, AbortSignal.timeout(patienceMilliseconds));
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    if (error.type !== 'forbidden') return;
    throw new UsageProblem(
      'service.scope-missing',
      `phones and waterfall results could not be fetched: ${error.message}; nothing was spent`,
      {
        ...(error.where !== undefined && { where: error.where }),
        next: 'give the key the scope of that endpoint, or set WEBHOOK_PUBLIC_URL so that results are delivered',
        cause: error,
      },
    );
  }
}

/**
 * Creates the error for a refused credential. The failure's own next step is for a run that has begun, so it is
 * replaced.
 */
function refused(
  { credentialSetting }: ServiceClient,
  what: string,
  where: string | undefined,
  cause?: ServiceFailure,
): Problem {
  return new UsageProblem('service.credential-refused', `${what}; nothing was spent`, {
    ...(where !== undefined && { where }),
    next:
      `correct ${credentialSetting ?? 'the credential'}, or give the credential its scopes; set an API key in ` +
      'ENRICHMENT_API_KEY, and an OAuth token in ENRICHMENT_ACCESS_TOKEN (or …_FILE, …_COMMAND)',
    cause,
  });
}

/** Two texts for the log and the start of a run: the user, and the calls left in the rate windows. */
export function describeServiceStatus({
  user,
  windows,
  usageUnknown,
}: ServiceStatus): readonly [acting: string, limits: string] {
  return [describeUser(user), describeLimits(windows, usageUnknown)];
}

export function describeUser(user: ActingUser): string {
  return 'userId' in user
    ? `acting as user ${user.userId}`
    : `the user of the credential is unknown: ${user.unknown.message}`;
}

const windowNames: Readonly<Record<number, string>> = { 60: 'minute', 3_600: 'hour', 86_400: 'day' };

/** Describes how many calls are left in the rate windows of bulk calls, or why this is unknown. */
function describeLimits(windows: readonly RateWindow[], unknown: ServiceFailure | undefined): string {
  const left = windows.map(
    ({ calls, free, seconds }) =>
      `${free} of ${calls} this ${windowNames[seconds] ?? formatDuration(seconds)}`,
  );
  if (left.length > 0) return `bulk calls left at the service: ${left.join(', ')}`;
  return unknown === undefined
    ? 'the service reports no limit for bulk calls: RATE_LIMITS applies'
    : `the service’s limits are unknown until its first answer: ${unknown.message}; RATE_LIMITS applies`;
}

/** Maximum time that the product waits for these optional statistics. */
const statisticsPatienceMilliseconds = 5_000;

const scopes: readonly string[] = [bulkMatchScope, matchScope, webhookResultScope];

/**
 * Reads from the service how much of its rate windows the team has used, and stores this as rate reports. If the key
 * may not read usage, the headers of the first answer report the rate windows.
 *
 * @param service name of the service in the options of runs
 * @returns the failure; undefined if the usage was stored
 */
export async function fetchRateWindows(
  warehouse: Warehouse,
  service: string,
  client: ServiceClient,
): Promise<ServiceFailure | undefined> {
  const beganAt = await readDatabaseClockText(warehouse.database);
  try {
    for (const usage of await client.apiUsage(AbortSignal.timeout(statisticsPatienceMilliseconds))) {
      const scope = scopeOf(usage);
      if (scope !== undefined)
        await recordRateReports(
          warehouse.database,
          { service, scope },
          { beganAt },
          { rateLimits: usage.windows },
        );
    }
    return undefined;
  } catch (error) {
    if (error instanceof ServiceFailure) return error;
    throw error;
  }
}

/**
 * The rate scope of an operation: `["api/v1/people", "bulk_match"]` becomes `people/bulk_match`. In polls an id
 * follows.
 */
function scopeOf({ path, action }: OperationUsage): string | undefined {
  const name = `${path}/${action}`.replace(/^\/?api\/v1\//, '');
  return scopes.find(
    (scope) => name === scope || (scope === webhookResultScope && name.startsWith(`${scope}/`)),
  );
}

export interface ServiceCheckDependencies extends PollDependencies {
  /** True if the service can reach the receiver of webhooks. Otherwise late results come only by polls. */
  readonly isDeliveredTo: boolean;
  readonly log: Logger;
}

/**
 * Checks the worker's credential at the service before a run spends credits. Costs nothing.
 *
 * @returns `refused` if every call of this run would fail until an operator changes something
 */
export async function checkRunService(
  dependencies: ServiceCheckDependencies,
  runId: string,
): Promise<ServiceCheck> {
  const { options } = await getRun(dependencies.warehouse, runId);
  const polls = !dependencies.isDeliveredTo && lateKindsRequestedBy(options).length > 0;
  try {
    const status = describeServiceStatus(await readServiceStatus(dependencies, { polls })).join('; ');
    dependencies.log.info({ runId }, status);
    return { kind: 'ready', status };
  } catch (error) {
    if (!(error instanceof Problem) || !error.type.startsWith('service.')) throw error;
    const next = `${withAdviceForWorkers(error)}; then: enrich resume ${runId}`;
    return { kind: 'refused', pauseReason: { type: error.type, reason: error.message, next } };
  }
}

/** Adapts the next step of a failure to runs, because a run uses the settings that its workers had at their start. */
export function withAdviceForWorkers({ next, exitCode }: Problem): string {
  return exitCode === exitCodes.usage
    ? `${next}; settings are those of the workers: restart them after a change`
    : next;
}

interface CreditStatementDependencies {
  readonly warehouse: Warehouse;
  /** Name of the service in the options of runs. */
  readonly service: string;
  readonly client: Pick<ServiceClient, 'creditUsage'>;
  readonly log: Logger;
}

/**
 * Reads from the service how many credits the team has consumed, and stores the count. Workers do this before and after
 * each run, so that the operator can decide about calls of unknown cost. It costs nothing. Nothing is stored if the key
 * may not read usage.
 *
 * @param runId undefined outside of a run
 * @returns why nothing was stored; undefined if the count was stored
 */
export async function storeCreditStatement(
  { warehouse, service, client, log }: CreditStatementDependencies,
  runId: string | undefined,
): Promise<string | undefined> {
  try {
    const usage = await client.creditUsage(AbortSignal.timeout(patienceMilliseconds));
    const statement = sumCreditStatement(usage);
    await recordCreditStatement(warehouse.database, { service, runId: runId ?? null }, statement);
    return statement.consumed === undefined ? 'a figure of the statement cannot be read' : undefined;
  } catch (error) {
    const why = whyMissing(error);
    if (why === undefined) throw error;
    log.debug({ runId, why }, 'the service states no credit usage');
    return why;
  }
}

/**
 * Why the service gives no count of credits. Undefined if the error is neither a failure of the service nor an error of
 * the database.
 */
function whyMissing(error: unknown): string | undefined {
  if (error instanceof ServiceFailure) return error.message;
  const code = databaseErrorCode(error);
  return code === undefined || isTransientDatabaseError(error)
    ? undefined
    : `the database refuses it (${code})`;
}
