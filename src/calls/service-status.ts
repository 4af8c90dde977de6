import { randomUUID } from 'node:crypto';
import { formatDuration } from '../domain/text/duration.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { readReports, type ServiceWindow } from '../ledger/rate-reports.ts';
import { bulkMatchScope } from '../ledger/rate-windows.ts';
import type { ServiceClient } from '../service/client.ts';
import { ServiceFailure, type FailureType } from '../service/failures/failure.ts';
import { pollWithinLimits, type PollDependencies } from '../late-results/poll-within-limits.ts';
import { learnRateWindows } from './rate-status.ts';

/** Who the service takes us for, or why that is not known. */
export type ActingUser =
  { readonly userId: string } | { readonly unknown: ServiceFailure; readonly credentialWorks: boolean };

/** What the service says before a run spends anything. */
export interface ServiceStatus {
  readonly user: ActingUser;
  /** The limited windows of bulk calls that it has told of, shortest first. */
  readonly windows: readonly ServiceWindow[];
  /** Why it does not tell what is used of them; undefined where it did. */
  readonly usageUnknown: ServiceFailure | undefined;
}

/** A service that is slow to say who a person is may still enrich people. */
const patienceMilliseconds = 10_000;
/** No request has it. */
const unknownRequestId = '0';

/**
 * Asks, before anything is spent and by calls that are free, whether the service takes the credential, whom it acts as,
 * and what is left of its limits; from then on these count. What the service does not offer, or fails at, stops nobody:
 * the first call of the run will tell. That one also tells whether the key may enrich at all, and costs nothing where
 * it may not.
 *
 * @param needs.polls results are to come by polls alone: a key that may not poll would pay for what it never gets
 * @throws Problem `service.credential-refused`, `service.scope-missing`
 */
export async function readServiceStatus(
  dependencies: PollDependencies,
  needs: { readonly polls: boolean },
): Promise<ServiceStatus> {
  const { warehouse, service, client } = dependencies;
  const user = await askActingUser(client);
  const usageUnknown = await learnRateWindows(warehouse, service, client);
  if (needs.polls) await tryPolling(dependencies);
  const windows = await readReports(warehouse.database, { service, scope: bulkMatchScope });
  return { user, windows, usageUnknown };
}

/**
 * Asks for the profile, whose 200 confirms the credential; where it says nothing of the credential, for the health.
 *
 * @throws Problem `service.credential-refused`
 */
export async function askActingUser(client: ServiceClient): Promise<ActingUser> {
  const signal = AbortSignal.timeout(patienceMilliseconds);
  try {
    return { userId: (await client.profile(signal)).id };
  } catch (error) {
    // A 403 of the profile says only that its scope is missing.
    const unknown = failureOf(client, error, 'unauthorized', 'not-sent.no-token');
    const credentialWorks = unknown.httpStatus !== undefined && (await askHealth(client, signal));
    return { unknown, credentialWorks };
  }
}

/** @returns whether the service says that the credential works; it may say nothing */
async function askHealth(client: ServiceClient, signal: AbortSignal): Promise<boolean> {
  try {
    if ((await client.health(signal)).credentialWorks) return true;
  } catch (error) {
    failureOf(client, error, 'unauthorized', 'forbidden', 'not-sent.no-token');
    return false;
  }
  throw refused(client, 'the service says that the credential does not work', 'GET /auth/health');
}

/** @throws Problem where the failure is the service's word on the credential */
function failureOf(
  client: ServiceClient,
  error: unknown,
  ...refusals: readonly FailureType[]
): ServiceFailure {
  if (!(error instanceof ServiceFailure)) throw error;
  if (refusals.includes(error.type)) throw refused(client, error.message, error.where, error);
  return error;
}

/** Polls an unknown request id: the answer shows whether the key may poll. */
async function tryPolling(dependencies: PollDependencies): Promise<void> {
  try {
    const poll = { callId: `poll:try:${randomUUID()}`, requestId: unknownRequestId };
    await pollWithinLimits(dependencies, poll, AbortSignal.timeout(patienceMilliseconds));
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    if (error.type !== 'forbidden') return;
    throw new Problem(
      'service.scope-missing',
      `phones and waterfall results could not be fetched: ${error.message}; nothing was spent`,
      {
        ...(error.where !== undefined && { where: error.where }),
        next: 'give the key the scope of that endpoint, or set WEBHOOK_PUBLIC_URL so that results are delivered',
        exitCode: exitCodes.usage,
        cause: error,
      },
    );
  }
}

/** The general advice for such a failure is about runs that it has paused, and does not fit here. */
function refused(
  { credentialSetting }: ServiceClient,
  what: string,
  where: string | undefined,
  cause?: ServiceFailure,
): Problem {
  return new Problem('service.credential-refused', `${what}; nothing was spent`, {
    ...(where !== undefined && { where }),
    next: `correct ${credentialSetting ?? 'the credential'}, or give the credential its scopes; a key belongs in ENRICHMENT_API_KEY, an OAuth token in ENRICHMENT_ACCESS_TOKEN (or …_FILE, …_COMMAND)`,
    exitCode: exitCodes.usage,
    cause,
  });
}

/** In one line each: whom the credential acts as, and what is left of the limits. */
export function describeServiceStatus({
  user,
  windows,
  usageUnknown,
}: ServiceStatus): readonly [acting: string, limits: string] {
  return [describeUser(user), describeLimits(windows, usageUnknown)];
}

/** Whom the credential acts as, or why that is not known. */
export function describeUser(user: ActingUser): string {
  return 'userId' in user
    ? `acting as user ${user.userId}`
    : `whom the credential acts as is not known: ${user.unknown.message}`;
}

const windowNames: Readonly<Record<number, string>> = { 60: 'minute', 3_600: 'hour', 86_400: 'day' };

/** What is left of the windows of bulk calls, or why that is not known. */
export function describeLimits(
  windows: readonly Pick<ServiceWindow, 'calls' | 'seconds' | 'free'>[],
  unknown: ServiceFailure | undefined,
): string {
  const left = windows.map(
    ({ calls, free, seconds }) =>
      `${free} of ${calls} this ${windowNames[seconds] ?? formatDuration(seconds)}`,
  );
  if (left.length > 0) return `calls that the service has left for bulk enrichment: ${left.join(', ')}`;
  return unknown === undefined
    ? 'the service tells of no limit for bulk enrichment: RATE_LIMITS is held'
    : `what is left of the service’s limits is not known yet: ${unknown.message}; RATE_LIMITS is held, and its answers will tell`;
}
