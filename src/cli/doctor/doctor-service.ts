import type { Config } from '../../config/settings.ts';
import { bulkUsage } from '../../calls/service/learn-rate-windows.ts';
import { askActingUser, describeLimits, describeUser } from '../../calls/service/service-status.ts';
import type { OperationUsage, ServiceClient } from '../../service/client.ts';
import { ServiceFailure } from '../../service/failures/failure.ts';
import { Problem } from '../../domain/problem.ts';
import { addressWithoutPassword } from '../../db/postgres-errors.ts';
import { attention, broken, ok, type Finding } from './finding.ts';
import { withClient } from '../session/with-service.ts';

const usageMilliseconds = 10_000;

/**
 * Checks which user the credential acts as, and what is left of the limits. Uses the client of runs, which reads access
 * tokens from a file or a command again when they expire. Spends no credits.
 *
 * @throws Problem where there is no credential, or the service refuses it
 */
export async function checkService(config: Config): Promise<Finding[]> {
  const { baseUrl, credential } = config.service;
  if (baseUrl === undefined) {
    const what = 'the sandbox on this machine (ENRICHMENT_BASE_URL is not set): invented people, no cost';
    if (!credential) return [ok('service', what)];
    return [attention('service', what, 'set ENRICHMENT_BASE_URL: a credential is set, and is not used')];
  }
  const where = addressWithoutPassword(baseUrl);
  return withClient(config.service, async (client) => {
    const user = await askActingUser(client).catch(withoutSpending);
    if ('userId' in user) {
      const limits = await whatIsLeft(client);
      return [ok('service', `${where} accepts the credential, ${describeUser(user)}; ${limits}`)];
    }
    const { unknown, credentialWorks } = user;
    if (!credentialWorks) return [broken('service', `${where}: ${unknown.message}`, unknown.next)];
    const what = `${where} accepts the credential; ${describeUser(user)}`;
    return [attention('service', what, 'nothing, if that is expected')];
  });
}

/** `enrich doctor` never spends credits, so its errors do not mention spending. */
function withoutSpending(error: unknown): never {
  if (!(error instanceof Problem)) throw error;
  throw new Problem(error.type, error.message.replace('; nothing was spent', ''), {
    where: error.where,
    next: error.next,
    cause: error,
  });
}

async function whatIsLeft(client: ServiceClient): Promise<string> {
  const usage = await client
    .apiUsage(AbortSignal.timeout(usageMilliseconds))
    .catch((error: unknown): ServiceFailure => {
      if (error instanceof ServiceFailure) return error;
      throw error;
    });
  if (usage instanceof ServiceFailure) return describeLimits([], usage);
  return describeLimits(limitedWindows(bulkUsage(usage)), undefined);
}

function limitedWindows(usage: OperationUsage | undefined): Parameters<typeof describeLimits>[0] {
  return (usage?.windows ?? []).flatMap(({ limit, left, seconds }) =>
    typeof limit === 'number' && typeof left === 'number' ? [{ calls: limit, free: left, seconds }] : [],
  );
}
