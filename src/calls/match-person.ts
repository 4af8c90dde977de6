import { budgetPeriodNames, settingOfBudgetPeriod } from '../domain/money/budget-periods.ts';
import { randomUUID } from 'node:crypto';
import { formatCount } from '../domain/text/format.ts';
import { maxCredibleCreditsPerPerson, worstCaseCredits } from '../domain/money/credit-rules.ts';
import { formatCredits, type Credits } from '../domain/money/decimal.ts';
import { Problem, UsageProblem, exitCodes } from '../domain/problem.ts';
import type { Identity } from '../domain/identity/identity.ts';
import { identityKeys } from '../domain/identity/identity-keys.ts';
import { suppressionKeysOfPerson } from '../domain/identity/match-keys.ts';
import type { AdmissionLimits } from '../ledger/admit.ts';
import { applyBudgetLimits, openBudgetsOfRun, reserveCredits } from '../ledger/credit-ledger.ts';
import {
  type RateScope,
  endFailedCall,
  acquireSlot,
  endCall,
  matchScope,
  admissionSlackSeconds,
} from '../ledger/rate-windows.ts';
import type { MatchAnswer, MatchRequest, ServiceClient } from '../service/client.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import { settleReservation } from '../ledger/close-attempt.ts';
import type { Warehouse } from '../db/database.ts';
import { isSuppressed } from '../suppression/drop-suppressed.ts';

interface MatchDependencies extends AdmissionLimits {
  readonly warehouse: Warehouse;
  readonly client: ServiceClient;
  readonly callTimeoutSeconds: number;
}

interface AdmittedMatch {
  readonly callId: string;
  readonly budgetIds: readonly string[];
  readonly price: Credits;
}

/**
 * Looks up one person outside of any run (`enrich match`), under the same rate limits and budgets as calls of runs. No
 * row of `attempts` exists that the operator could settle, so an unknown cost stays reserved in the day and month
 * budgets.
 *
 * @throws Problem `match.suppressed`, `match.no-slot`, `match.over-budget`: nothing was sent
 * @throws Problem `match.found-suppressed`: the returned person is on the suppression list
 * @throws ServiceFailure if the call failed and cost nothing; Problem of the same type if it may have been billed
 */
export async function matchPerson(
  dependencies: MatchDependencies,
  request: MatchRequest,
): Promise<MatchAnswer> {
  const { database } = dependencies.warehouse;
  const matches = matchesOf(dependencies);
  await refuseSuppressed(dependencies, request.person);
  const admitted = await admitMatch(dependencies, worstCaseCredits(request));
  let answer: MatchAnswer;
  try {
    answer = await dependencies.client.match(request);
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    await endFailedCall(database, matches, admitted.callId, error, dependencies.callTimeoutSeconds);
    if (error.mayHaveBeenBilled) throw withNext(error);
    await close(dependencies, admitted, 0n);
    if (error.type === 'token-renewed') return matchPerson(dependencies, request);
    throw withNext(error);
  }
  await endCall(database, matches, admitted.callId, 'accepted', answer);
  // The service's interface does not describe a price in this answer. By its price table, a call without a match
  // is free.
  const price = answer.creditsConsumed ?? (answer.person === undefined ? 0n : admitted.price);
  // A price that is not credible leaves the cost unknown. Settling such a price could exhaust the budgets of all runs.
  if (price <= maxCredibleCreditsPerPerson) await close(dependencies, admitted, price);
  await refuseSuppressedAnswer(dependencies, answer);
  return answer;
}

/** @throws Problem `match.suppressed`, before anything is sent */
async function refuseSuppressed({ warehouse }: MatchDependencies, person: Identity): Promise<void> {
  const keys = [...identityKeys(person), ...(person.domain === undefined ? [] : [`domain:${person.domain}`])];
  if (!(await isSuppressed(warehouse.database, keys))) return;
  throw new UsageProblem('match.suppressed', 'this person is on the suppression list', {
    next: 'nothing was sent; to take a person off the list: enrich suppress remove WHO',
  });
}

/**
 * Refuses an answer about a suppressed person. The answer can contain a suppressed e-mail or id that the request did
 * not.
 */
async function refuseSuppressedAnswer(
  { warehouse }: MatchDependencies,
  { person }: MatchAnswer,
): Promise<void> {
  if (person === undefined || !(await isSuppressed(warehouse.database, suppressionKeysOfPerson(person))))
    return;
  throw new Problem('match.found-suppressed', 'the returned person is on the suppression list', {
    next: 'the price is settled, the answer is withheld; to remove a person from the list: enrich suppress remove WHO',
    // This exit code tells programs to stop. With an ordinary failure, they would repeat the command and pay again.
    exitCode: exitCodes.needsOperator,
  });
}

/**
 * Acquires a slot and reserves the worst-case price in the day and month budgets.
 *
 * @throws Problem `match.no-slot`, `match.over-budget`
 */
async function admitMatch(dependencies: MatchDependencies, price: Credits): Promise<AdmittedMatch> {
  const { warehouse, rateLimits, budgets, callTimeoutSeconds } = dependencies;
  await applyBudgetLimits(warehouse.database, budgets);
  const budgetIds = await openBudgetsOfRun(warehouse.database, undefined);
  const callId = `match:${randomUUID()}`;
  // An error that is thrown here rolls back the slot and the reservation.
  await warehouse.database.transaction().execute(async (transaction) => {
    const slot = await acquireSlot(
      transaction,
      { ...matchesOf(dependencies), callId, deadlineSeconds: callTimeoutSeconds + admissionSlackSeconds },
      rateLimits,
    );
    if (slot.kind === 'full') {
      throw new Problem('match.no-slot', `no call is possible now: ${slot.reason}`, {
        where: matchScope,
        next: tryAgain(slot.milliseconds / 1_000),
      });
    }
    const { shortBudget } = await reserveCredits(transaction, budgetIds, price, 1);
    if (shortBudget !== undefined) {
      throw new Problem('match.over-budget', `the budget ${shortBudget} has less left than the price`, {
        where: budgetPeriodNames.map(settingOfBudgetPeriod).join(', '),
        next:
          `raise the budget (enrich budget set ${shortBudget} N) or wait for its next period; ` +
          'enrich budget show shows what is left',
      });
    }
  });
  return { callId, budgetIds, price };
}

/** Replaces the next step of failures that mention attempts and rows, because this call has neither. */
function withNext(failure: ServiceFailure): Problem {
  const next = nextAfter(failure);
  if (next === undefined) return failure;
  const { type, message, exitCode } = failure;
  return new Problem(type, message, { where: matchScope, next, exitCode, cause: failure });
}

/** The next step for the operator; undefined: the failure's own next step fits. */
function nextAfter({
  mayHaveBeenBilled,
  disposition,
  retryAfterSeconds,
}: ServiceFailure): string | undefined {
  if (mayHaveBeenBilled)
    return (
      'the call may have been billed: its price stays reserved until the day and the month end; ' +
      'compare it with the usage at the service (enrich usage)'
    );
  if (disposition === 'wait') return tryAgain(retryAfterSeconds ?? 0);
  return disposition === 'reject' ? 'correct the options of the command' : undefined;
}

function tryAgain(seconds: number): string {
  const when = seconds > 0 ? `in ${formatCount(Math.ceil(seconds), 'second')}` : 'later';
  return `try again ${when}; enrich usage shows the calls that are left`;
}

/** The rate windows that calls of `enrich match` count in. */
function matchesOf({ service }: MatchDependencies): RateScope {
  return { service, scope: matchScope };
}

/** Settles the reservation in the budgets with the price of the call. */
async function close(
  { warehouse }: MatchDependencies,
  { budgetIds, price }: AdmittedMatch,
  consumed: Credits,
): Promise<void> {
  await warehouse.database
    .transaction()
    .execute((transaction) => settleReservation(transaction, budgetIds, formatCredits(price), consumed));
}
