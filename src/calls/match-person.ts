import { periodNames, settingOfPeriod } from '../domain/money/budget-periods.ts';
import { randomUUID } from 'node:crypto';
import { counted } from '../domain/text/counted.ts';
import { worstCaseCredits } from '../domain/money/credit-rules.ts';
import { formatCredits, type Credits } from '../domain/money/decimal.ts';
import { Problem } from '../domain/problem.ts';
import type { Identity } from '../domain/identity/identity.ts';
import { identityKeys } from '../domain/identity/identity-keys.ts';
import { keysOfPerson } from '../domain/identity/keys-of-person.ts';
import type { RateLimit } from '../domain/rates/rate-limit.ts';
import { applyBudgetLimits, budgetsOf, reserve, type BudgetLimits } from '../ledger/credit-ledger.ts';
import type { RateScope } from '../ledger/rate-reports.ts';
import {
  endCall,
  abandonCall,
  matchScope,
  pauseScope,
  releaseSlot,
  acquireSlot,
} from '../ledger/rate-windows.ts';
import type { MatchAnswer, MatchRequest, ServiceClient } from '../service/client.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import { settle } from '../ledger/close-attempt.ts';
import type { Warehouse } from '../db/database.ts';
import { areSuppressed } from '../privacy/suppressions.ts';

export interface MatchDependencies {
  readonly warehouse: Warehouse;
  /** As the runs name it. */
  readonly service: string;
  readonly client: ServiceClient;
  readonly rateLimits: readonly RateLimit[];
  readonly budgets: BudgetLimits;
  readonly callTimeoutSeconds: number;
}

interface AdmittedMatch {
  readonly callId: string;
  readonly budgetIds: readonly string[];
  readonly price: Credits;
}

/** Between admission and the end of the call. */
const slackSeconds = 5;

/**
 * Asks for one person outside any run: admitted, held to the limits and settled like every call. There is no attempt to
 * decide on later, so what may have been billed stays reserved in the budgets of the day and the month.
 *
 * @throws Problem `match.suppressed`, `match.no-place`, `match.over-budget`: nothing was sent
 * @throws Problem `match.found-suppressed`: the person who came back is on the suppression list
 * @throws ServiceFailure
 */
export async function matchPerson(
  dependencies: MatchDependencies,
  request: MatchRequest,
): Promise<MatchAnswer> {
  await refuseSuppressed(dependencies.warehouse, request.person);
  const admitted = await admitMatch(dependencies, worstCaseCredits(request));
  let answer: MatchAnswer;
  try {
    answer = await dependencies.client.match(request);
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    await closeFailure(dependencies, admitted, error);
    if (error.type === 'token-renewed') return matchPerson(dependencies, request);
    throw error;
  }
  await endCall(dependencies.warehouse.database, matchesOf(dependencies), admitted.callId, true, answer);
  // The document shows no price in this answer; by its price table a miss is free.
  await close(
    dependencies,
    admitted,
    answer.creditsConsumed ?? (answer.person === undefined ? 0n : admitted.price),
  );
  await refuseSuppressedAnswer(dependencies.warehouse, answer);
  return answer;
}

async function refuseSuppressed({ database }: Warehouse, person: Identity): Promise<void> {
  const keys = [...identityKeys(person), ...(person.domain === undefined ? [] : [`domain:${person.domain}`])];
  if (!(await areSuppressed(database, keys)).includes(true)) return;
  throw new Problem('match.suppressed', 'this person is on the suppression list', {
    next: 'nothing was sent; enrich suppress remove takes somebody off the list',
  });
}

/** Another address than the one asked with can be on the list. */
async function refuseSuppressedAnswer({ database }: Warehouse, { person }: MatchAnswer): Promise<void> {
  if (person === undefined || !(await areSuppressed(database, keysOfPerson(person))).includes(true)) return;
  throw new Problem('match.found-suppressed', 'the person who came back is on the suppression list', {
    next: 'the answer is not shown, and its price is settled; enrich suppress remove takes somebody off the list',
  });
}

async function admitMatch(dependencies: MatchDependencies, price: Credits): Promise<AdmittedMatch> {
  const { warehouse, rateLimits, budgets, callTimeoutSeconds } = dependencies;
  await applyBudgetLimits(warehouse.database, budgets);
  const budgetIds = await budgetsOf(warehouse.database, undefined, budgets);
  const callId = `match:${randomUUID()}`;
  // What is thrown in here takes back the place and the reservation.
  await warehouse.database.transaction().execute(async (transaction) => {
    const place = await acquireSlot(
      transaction,
      { ...matchesOf(dependencies), callId, deadlineSeconds: callTimeoutSeconds + slackSeconds },
      rateLimits,
    );
    if (place.kind === 'full') {
      throw new Problem('match.no-place', `no call can be made now: ${place.reason}`, {
        where: matchScope,
        next: `try again in ${counted(Math.ceil(place.milliseconds / 1_000), 'second')}; enrich usage shows what is left`,
      });
    }
    const { shortBudget } = await reserve(transaction, budgetIds, budgets, price, 1);
    if (shortBudget !== undefined) {
      throw new Problem('match.over-budget', `the budget ${shortBudget} holds less than the price`, {
        where: periodNames.map(settingOfPeriod).join(', '),
        next: `raise it (enrich budget set ${shortBudget} N), or wait for the next one; enrich budget show says what is left`,
      });
    }
  });
  return { callId, budgetIds, price };
}

async function closeFailure(
  dependencies: MatchDependencies,
  admitted: AdmittedMatch,
  failure: ServiceFailure,
): Promise<void> {
  const { database } = dependencies.warehouse;
  const { callId } = admitted;
  if (failure.disposition === 'wait')
    await pauseScope(database, matchScope, callId, failure.retryAfterSeconds);
  if (failure.type.startsWith('not-sent.')) await releaseSlot(database, callId);
  else if (failure.httpStatus === undefined)
    await abandonCall(database, callId, dependencies.callTimeoutSeconds);
  else await endCall(database, matchesOf(dependencies), callId, isThroughRate(failure), failure);
  if (!failure.mayHaveBeenBilled) await close(dependencies, admitted, 0n);
}

function matchesOf({ service }: MatchDependencies): RateScope {
  return { service, scope: matchScope };
}

/** Refused for another reason than its rate. */
function isThroughRate({ disposition }: ServiceFailure): boolean {
  return disposition === 'pause' || disposition === 'reject';
}

async function close(
  { warehouse }: MatchDependencies,
  { budgetIds, price }: AdmittedMatch,
  consumed: Credits,
): Promise<void> {
  await warehouse.database
    .transaction()
    .execute((transaction) => settle(transaction, budgetIds, formatCredits(price), consumed));
}
