import { Problem, exitCodes } from '../domain/problem.ts';
import type { ServiceClient } from '../service/client.ts';
import { ServiceFailure, type FailureType } from '../service/failure.ts';
import { tell } from './output.ts';

/** A service that is slow to say who somebody is may still enrich people. */
const patienceMilliseconds = 10_000;

/** Nothing that is asked of the service will get another answer. A 403 of the profile says only that its scope is missing. */
const refusals: Readonly<Record<'health' | 'profile', readonly FailureType[]>> = {
  health: ['unauthorized', 'forbidden', 'not-sent.no-token'],
  profile: ['unauthorized', 'not-sent.no-token'],
};

/**
 * Asks whether the service takes the credential, and tells the person whom it acts as: before anything is spent, by the two
 * calls that are free. A service without these operations, or one that fails, stops nobody: the first call of the run will
 * tell.
 *
 * @returns the acting user, where the service says
 * @throws Problem `service.credential-refused`
 */
export async function checkCredential(client: ServiceClient): Promise<{ readonly userId?: string }> {
  const signal = AbortSignal.timeout(patienceMilliseconds);
  const [health, profile] = await Promise.all([
    client.health(signal).catch((error: unknown) => failureOf(error, 'health')),
    client.profile(signal).catch((error: unknown) => failureOf(error, 'profile')),
  ]);
  if (!(health instanceof ServiceFailure) && !health.credentialWorks)
    throw refused('the service says that the credential does not work', 'GET /auth/health');
  if (profile instanceof ServiceFailure) {
    tell(`warning: whom the credential acts as is not known: ${profile.message}`);
    return {};
  }
  tell(`acting as user ${profile.id}`);
  return { userId: profile.id };
}

/** @throws Problem where the failure is the service's word on the credential */
function failureOf(error: unknown, operation: keyof typeof refusals): ServiceFailure {
  if (!(error instanceof ServiceFailure)) throw error;
  if (refusals[operation].includes(error.type)) throw refused(error.message, error.where, error);
  return error;
}

/** The general advice for such a failure is about runs that it has paused, and does not fit here. */
function refused(what: string, where: string | undefined, cause?: ServiceFailure): Problem {
  return new Problem('service.credential-refused', what, {
    ...(where !== undefined && { where }),
    next: 'correct the credential (ENRICHMENT_API_KEY or ENRICHMENT_ACCESS_TOKEN…), or give the key its scopes; enrich whoami tries it. Nothing was begun and nothing spent',
    exitCode: exitCodes.usage,
    cause,
  });
}
