import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { lateKindsOf } from '../domain/late-results/delivery-kinds.ts';
import { askOf, worstCaseCredits } from '../domain/money/credit-rules.ts';
import type { Warehouse } from '../db/database.ts';
import { isDatabaseAway } from '../db/postgres-errors.ts';
import type { Admission, AdmissionRequest } from '../ledger/admit.ts';
import type { BudgetAlarm } from '../ledger/credit-ledger.ts';
import { closeWithoutCost } from '../ledger/close-attempt.ts';
import { releaseSlot, slackSeconds } from '../ledger/rate-windows.ts';
import type { OpenPerson } from './batches/open-people.ts';
import type { RunRecord } from '../runs/runs.ts';
import { untilDatabaseIsBack } from './until-database-is-back.ts';

/** A worker that stops does not wait longer for a database that is away. */
const releasePatienceMilliseconds = 20_000;

export interface AdmitDependencies {
  readonly warehouse: Warehouse;
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  readonly callTimeoutSeconds: number;
  /** Called once for each crossed threshold of a budget. */
  readonly onBudgetAlarm: (alarm: BudgetAlarm) => void;
}

export interface AttemptRequest {
  readonly run: RunRecord;
  readonly batch: number;
  /** At most ten; the budgets may pay for fewer. */
  readonly people: readonly OpenPerson[];
}

/** Admits a call. Waits while calls in flight may release credits; the batch waits for a full rate window. */
export async function admitWhenAffordable(
  dependencies: AdmitDependencies,
  { run, batch, people }: AttemptRequest,
  signal: AbortSignal,
): Promise<{ readonly admission: Admission; readonly asked: AdmissionRequest }> {
  for (;;) {
    signal.throwIfAborted();
    const asked: AdmissionRequest = {
      attemptId: randomUUID(),
      runId: run.runId,
      batch,
      priority: run.options.priority,
      rowNumbers: people.map((person) => person.rowNumber),
      creditsPerPerson: worstCaseCredits(askOf(run.options)),
      deadlineSeconds: dependencies.callTimeoutSeconds + slackSeconds,
      lateResults: lateKindsOf(run.options).length > 0,
    };
    const admission = await admitOrRelease(dependencies, asked);
    if ('alarms' in admission) admission.alarms.forEach(dependencies.onBudgetAlarm);
    if (admission.kind !== 'over_budget' || !admission.mayFreeCredits) return { admission, asked };
    // A miss costs nothing: what calls in flight have reserved may come back within a second.
    await sleep(200, undefined, { signal });
  }
}

/**
 * Admits a call. If the reply to the admission is lost, the call may be admitted: it is released, because it was not
 * sent. Otherwise its people would wait for a person's decision.
 */
async function admitOrRelease(
  dependencies: AdmitDependencies,
  request: AdmissionRequest,
): Promise<Admission> {
  try {
    return await dependencies.admit(request);
  } catch (error) {
    if (isDatabaseAway(error))
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

export async function release(
  { warehouse }: AdmitDependencies,
  attemptId: string,
  reason: string,
): Promise<void> {
  await closeWithoutCost(warehouse, attemptId, { status: 'released', reason });
  await releaseSlot(warehouse.database, attemptId);
}
