import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PauseReason } from '../contract/pause-reasons.ts';
import { lateKindsRequestedBy } from '../domain/late-results/delivery-kinds.ts';
import { pricedRequestOf, worstCaseCredits } from '../domain/money/credit-rules.ts';
import type { Warehouse } from '../db/database.ts';
import { isTransientDatabaseError, isDatabaseUnreachable } from '../db/postgres-errors.ts';
import type { Admission, AdmissionLimits, AdmissionRequest } from '../ledger/admit.ts';
import type { BudgetAlarm } from '../ledger/credit-ledger.ts';
import type { CallQueue } from '../ledger/call-queue.ts';
import {
  type RateScope,
  endFailedCall,
  bulkMatchScope,
  endCall,
  releaseSlot,
  admissionSlackSeconds,
  type SlotWait,
} from '../ledger/rate-windows.ts';
import { killPoint } from '../telemetry/kill-point.ts';
import type { Logger } from '../telemetry/log.ts';
import type { BulkAnswer, ServiceClient } from '../service/client.ts';
import { ServiceFailure } from '../service/failures/failure.ts';
import { closeWithoutCost, markAttemptUnknown } from '../ledger/close-attempt.ts';
import type { OpenPerson } from './batches/open-people.ts';
import type { RunRecord } from '../runs/runs.ts';
import { withAdviceForWorkers } from './service-status.ts';
import { storeAnswer } from './answers/store-answer.ts';

export interface AttemptDependencies {
  readonly warehouse: Warehouse;
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  readonly callTimeoutSeconds: number;
  /** Called once for each threshold of a budget that a reservation crosses. */
  readonly onBudgetAlarm: (alarm: BudgetAlarm) => void;
  readonly client: ServiceClient;
  readonly queue: CallQueue;
  readonly limits: AdmissionLimits;
  /** Maximum wait within the activity. For a longer wait, the workflow sets a timer. */
  readonly patienceMilliseconds: number;
  readonly streaks: CallStreaks;
  readonly log: Logger;
  readonly webhookUrl: (token: string) => string;
  readonly pollAfterSeconds: number;
}

interface AttemptRequest {
  readonly run: RunRecord;
  readonly batch: number;
  /** At most ten people. The call is made for fewer people if the budgets cannot pay for all of them. */
  readonly people: readonly OpenPerson[];
}

interface SentCall {
  readonly attemptId: string;
  readonly run: RunRecord;
  readonly people: readonly OpenPerson[];
}

export type AttemptResult =
  /**
   * The service has answered. The first `people` of the request have an outcome, except those that a partial answer
   * left out.
   */
  | {
      readonly kind: 'recorded';
      readonly attemptId: string;
      readonly people: number;
      readonly pauseReason: PauseReason | undefined;
    }
  /**
   * The call may have been billed, but no answer was recorded. The first `people` of the request become `unknown`, and
   * their credits stay reserved.
   */
  | {
      readonly kind: 'unknown';
      readonly people: number;
      readonly pauseReason: PauseReason | undefined;
    }
  /** The service refused a call for the first `people` of the request and billed nothing. */
  | { readonly kind: 'refused'; readonly people: number; readonly reason: string }
  /** Nothing was billed. The caller can send the same people again. */
  | { readonly kind: 'again' }
  | ({ readonly kind: 'wait' } & SlotWait)
  | { readonly kind: 'over_budget'; readonly budget: string }
  | { readonly kind: 'not_running' }
  /** Nothing was sent, because another worker calls for these people or has an answer about them. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'stopped'; readonly pauseReason: PauseReason };

/**
 * Makes one call: admits it, sends it and stores the answer. The attempt ends as recorded, refused (no cost), released
 * (certainly never sent) or unknown. After a crash the attempt stays open, because the call may have been sent, and the
 * next execution of the batch marks it unknown.
 */
export async function attemptCall(
  dependencies: AttemptDependencies,
  request: AttemptRequest,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const admission = await admitWhenAffordable(dependencies, request, signal);
  if (admission.kind !== 'admitted') return admission;
  const admittedAt = performance.now();
  killPoint('admitted');

  const { attemptId, token, rowNumbers } = admission;
  const call: SentCall = {
    attemptId,
    run: request.run,
    people: request.people.slice(0, rowNumbers.length),
  };
  const tooLate = () => performance.now() - admittedAt > admissionSlackSeconds * 1_000;
  // A process that was suspended after the admission would send the call later than the rate window allows.
  if (signal.aborted || tooLate()) {
    await untilDatabaseIsBack(() => release(dependencies, attemptId, 'the call was not sent'));
    signal.throwIfAborted();
    return { kind: 'again' };
  }

  let answer: BulkAnswer;
  try {
    answer = await send(dependencies, call, token);
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    return await closeFailure(dependencies, call, error);
  }
  return recordCall(dependencies, call, answer);
}

/**
 * Sends the request. People go into `details` in the order of their rows.
 *
 * @throws ServiceFailure if there is no usable answer
 */
async function send(
  { client, webhookUrl, callTimeoutSeconds }: AttemptDependencies,
  { run, people }: SentCall,
  token: string | undefined,
): Promise<BulkAnswer> {
  const calling = client.bulkMatch(
    {
      details: people.map(({ identity, confirmedId: personId, writtenProfileUrl: profileUrl }) => {
        // The operator has confirmed the person, so only the id is sent. The cells of the row may describe someone
        // else.
        if (personId !== undefined) return { personId };
        return profileUrl === undefined ? identity : { ...identity, profileUrl };
      }),
      reveal: run.options.reveal,
      waterfall: run.options.waterfall,
      webhookUrl: token === undefined ? undefined : webhookUrl(token),
    },
    // The activity's own signal is left out: a call that may be billed is awaited even if the activity is cancelled.
    AbortSignal.timeout(callTimeoutSeconds * 1_000),
  );
  setImmediate(() => setTimeout(() => killPoint('calling'), 5));
  const answer = await calling;
  killPoint('answered');
  return answer;
}

/** Ends the call in the rate windows and stores its answer. A partial answer is a reason to pause the run. */
async function recordCall(
  dependencies: AttemptDependencies,
  call: SentCall,
  answer: BulkAnswer,
): Promise<AttemptResult> {
  const { warehouse, log, pollAfterSeconds } = dependencies;
  const { attemptId, run, people } = call;
  await untilDatabaseIsBack(async () => {
    await endCall(warehouse.database, bulkCalls(dependencies), attemptId, 'accepted', answer);
    await storeAnswer(warehouse, {
      attemptId,
      people: people.length,
      answer,
      asked: run.options,
      lateResults: { pollAfterSeconds, deadlineSeconds: run.options.lateDeadlineSeconds },
    });
  });
  const ended = { attemptId, people: people.length } as const;
  killPoint('recorded');
  dependencies.streaks.end(run.runId);
  log.debug({ attemptId, people: people.length }, 'a call is recorded');
  if (answer.unreadFields.length > 0)
    log.warn(
      { attemptId, fields: answer.unreadFields },
      'fields of the answer have an unexpected type and were left out',
    );
  return { ...ended, kind: 'recorded', pauseReason: answer.partial && pauseReasonOf(answer.partial) };
}

/**
 * Ends an attempt without a usable answer: released if it was never sent, unknown if it may have been billed, otherwise
 * refused at no cost. The failure's `disposition` says what the caller does next.
 */
async function closeFailure(
  dependencies: AttemptDependencies,
  call: SentCall,
  failure: ServiceFailure,
): Promise<AttemptResult> {
  const { warehouse, streaks, log } = dependencies;
  const { attemptId } = call;
  const people = call.people.length;
  const { type, disposition, httpStatus } = failure;
  const reason = failure.message;
  const isUnsent = type.startsWith('not-sent.');
  // During an outage every call fails. `pauseOfUnsent` logs only the beginning of the outage.
  log[isUnsent ? 'debug' : 'warn']({ attemptId, people, type, disposition, httpStatus }, 'a call failed');
  const pauseReason = pauseReasonOf(failure);
  return untilDatabaseIsBack(async (): Promise<AttemptResult> => {
    if (isUnsent) {
      await release(dependencies, attemptId, reason);
      const pause = streaks.pauseOfUnsent();
      if (pause === undefined) return { kind: 'stopped', pauseReason };
      if (pause.isFirst)
        log.warn({ type }, `${reason}: calls are tried again for two minutes, then their runs pause`);
      await sleep(pause.milliseconds);
      return { kind: 'again' };
    }
    streaks.endUnsent();
    await endFailedCall(
      warehouse.database,
      bulkCalls(dependencies),
      attemptId,
      failure,
      dependencies.callTimeoutSeconds,
    );
    if (failure.mayHaveBeenBilled) {
      await markAttemptUnknown(warehouse, attemptId, reason, httpStatus);
      const pauses =
        disposition === 'pause' || (disposition === 'unknown' && streaks.tooLong(call.run.runId, 'failed'));
      return { kind: 'unknown', people, pauseReason: pauses ? pauseReason : undefined };
    }
    await closeWithoutCost(warehouse, attemptId, { status: 'refused', reason, httpStatus });
    switch (disposition) {
      case 'retry':
      case 'wait':
      case 'unknown':
        return { kind: 'again' };
      case 'pause':
        return { kind: 'stopped', pauseReason };
      case 'reject':
        return { kind: 'refused', people, reason };
    }
  });
}

/** The rate windows that bulk calls count in. */
function bulkCalls({ limits }: AttemptDependencies): RateScope {
  return { service: limits.service, scope: bulkMatchScope };
}

/** The failure as the reason of a paused run, which `enrich status` shows. */
function pauseReasonOf(failure: ServiceFailure): PauseReason {
  return {
    type: `service.${failure.type}`,
    reason: failure.message,
    next: withAdviceForWorkers(failure),
  };
}

/** Maximum time that a stopping worker waits for an unreachable database before it gives up releasing a call. */
const releasePatienceMilliseconds = 20_000;

/**
 * Admits a call. If calls in flight may release credits, this function waits for them. If a rate window is full, the
 * batch waits.
 */
async function admitWhenAffordable(
  dependencies: AttemptDependencies,
  { run, batch, people }: AttemptRequest,
  signal: AbortSignal,
): Promise<Admission> {
  for (;;) {
    signal.throwIfAborted();
    const asked: AdmissionRequest = {
      attemptId: randomUUID(),
      runId: run.runId,
      batch,
      priority: run.options.priority,
      rowNumbers: people.map((person) => person.rowNumber),
      creditsPerPerson: worstCaseCredits(pricedRequestOf(run.options)),
      deadlineSeconds: dependencies.callTimeoutSeconds + admissionSlackSeconds,
      lateResults: lateKindsRequestedBy(run.options).length > 0,
    };
    const admission = await admitOrRelease(dependencies, asked);
    if ('alarms' in admission) admission.alarms.forEach(dependencies.onBudgetAlarm);
    if (admission.kind !== 'over_budget' || !admission.mayFreeCredits) return admission;
    // If a call in flight finds no person, its reserved credits become free within a second.
    await sleep(200, undefined, { signal });
  }
}

/**
 * Admits a call. If the reply to the admission is lost, the call is released, because it was not sent. Otherwise the
 * operator would have to decide about a call that never happened.
 */
async function admitOrRelease(
  dependencies: AttemptDependencies,
  request: AdmissionRequest,
): Promise<Admission> {
  try {
    return await dependencies.admit(request);
  } catch (error) {
    if (isDatabaseUnreachable(error))
      await untilDatabaseIsBack(
        () =>
          release(
            dependencies,
            request.attemptId,
            'the admission was not confirmed, and the call was not sent',
          ),
        releasePatienceMilliseconds,
      ).catch(() => {});
    throw error;
  }
}

/** Returns credits, claims and slot of a call that was certainly never sent. */
async function release({ warehouse }: AttemptDependencies, attemptId: string, reason: string): Promise<void> {
  await closeWithoutCost(warehouse, attemptId, { status: 'released', reason });
  await releaseSlot(warehouse.database, attemptId);
}

/** Maximum time that a process keeps a paid answer in memory while the database is unreachable. */
const recordingPatienceMilliseconds = 10 * 60_000;

/**
 * Repeats work until the database is reachable again. The work must recognise an earlier try by its ids, because the
 * reply to a COMMIT can be lost.
 */
export async function untilDatabaseIsBack<Result>(
  work: () => Promise<Result>,
  patienceMilliseconds = recordingPatienceMilliseconds,
): Promise<Result> {
  const giveUpAt = performance.now() + patienceMilliseconds;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransientDatabaseError(error) || performance.now() > giveUpAt) throw error;
      await sleep(500);
    }
  }
}

/**
 * The longest series of calls without success before the run pauses. Refused calls (422) are free and count one: ten
 * batches with one refused person each begin with twenty. Failed calls may be billed and count six, so five pause the
 * run.
 */
const longestStreak = 30;
const streakWeights = { refused: 1, failed: 6 } as const;
/**
 * Time for which a run keeps trying when calls cannot be sent. Unsent calls cost nothing, so a run survives a restart
 * of DNS or of a proxy without an operator.
 */
const unsentPatienceMilliseconds = 120_000;
/** A failure to send that is older than this belongs to an earlier outage. */
const forgottenMilliseconds = 600_000;
/** Pauses between tries to send, in milliseconds. */
const shortestPause = 500;
const longestPause = 15_000;

/**
 * Counts, for each run of this worker, the consecutive calls that failed, were refused or could not be sent. A long
 * series pauses the run: the service is down, or it refuses everybody.
 */
export class CallStreaks {
  /** Weighted length of the series of each run id. */
  readonly #lengths = new Map<string, number>();
  /** Begin and newest failure of the current outage, in milliseconds of `performance.now()`. */
  #unsent: { since: number; last: number } | undefined;

  /** Counts one more call without success. @returns true if the series is so long that the run must pause */
  tooLong(runId: string, ended: keyof typeof streakWeights): boolean {
    const length = (this.#lengths.get(runId) ?? 0) + streakWeights[ended];
    this.#lengths.set(runId, length);
    return length >= longestStreak;
  }

  /**
   * Records that a call could not be sent.
   *
   * @returns milliseconds until the next try, and whether an outage begins; undefined: the outage has lasted too long
   */
  pauseOfUnsent(): { readonly milliseconds: number; readonly isFirst: boolean } | undefined {
    const now = performance.now();
    const before = this.#unsent;
    const isFirst = before === undefined || now - before.last > forgottenMilliseconds;
    const since = isFirst ? now : before.since;
    this.#unsent = { since, last: now };
    const lasted = now - since;
    if (lasted >= unsentPatienceMilliseconds) return undefined;
    return { milliseconds: Math.min(Math.max(lasted, shortestPause), longestPause), isFirst };
  }

  /** Records that a call was sent, with or without success. This ends an outage. */
  endUnsent(): void {
    this.#unsent = undefined;
  }

  /** Resets the count of a run, because the service accepted a call. */
  end(runId: string): void {
    this.#lengths.delete(runId);
    this.endUnsent();
  }
}
