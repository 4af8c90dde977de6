interface PauseReasonFacts {
  /** What the operator must do: `fix` the cause, take a `decision` about a limit of the run, or `nothing`. */
  readonly needs: 'fix' | 'decision' | 'nothing';
  /** True for a quality gate. Running the same command again does not continue such a run. */
  readonly isQualityGate?: boolean;
  /** Explanation of the pause in the runbook. */
  readonly meaning: string;
}

/**
 * Types of pause reasons. Alerts read `needs` from a metric, and the runbook has a row for each type. Failed calls
 * pause runs with other types: `service.` and a name of `failureKinds`.
 */
export const pauseReasons = {
  'run.paused': { needs: 'nothing', meaning: 'an operator paused the run (no alert)' },
  'run.interrupted': { needs: 'fix', meaning: 'a command with embedded Temporal was stopped' },
  'workflow.ended': {
    needs: 'fix',
    meaning: "the workflow was terminated, has failed, or was lost with Temporal's data",
  },
  'budget.empty': { needs: 'decision', meaning: 'a budget is exhausted, and people are left' },
  'expectation.unmet': {
    needs: 'decision',
    isQualityGate: true,
    meaning: 'the export is not as the run expects; nothing was paid',
  },
  'pilot.done': {
    needs: 'decision',
    isQualityGate: true,
    meaning: 'the pilot has finished; the reason has its figures',
  },
  'pilot.below': {
    needs: 'decision',
    isQualityGate: true,
    meaning: 'the pilot has finished below a limit of the run',
  },
  'match-rate.below': {
    needs: 'decision',
    isQualityGate: true,
    meaning: 'the match rate is below the minimum of the run',
  },
  'service.credential-refused': {
    needs: 'fix',
    meaning: "the service refused the workers' credential before the run spent anything",
  },
  'service.scope-missing': {
    needs: 'fix',
    meaning: 'the key may not poll, and late results can only come by polls',
  },
  'service.other': {
    needs: 'fix',
    meaning: "the run belongs to a service other than the workers'",
  },
  'service.refuses-everybody': {
    needs: 'fix',
    meaning: 'the service refuses every person of a batch, one by one, or all calls of several batches',
  },
  'service.overbilled': { needs: 'fix', meaning: 'a call was billed above its worst case' },
  'database.lost-calls': {
    needs: 'fix',
    meaning:
      'the database has lost calls that Temporal has completed, as after a failover to a replica that lagged',
  },
} as const satisfies Readonly<Record<string, PauseReasonFacts>>;

export type PauseReasonType = keyof typeof pauseReasons;

/** The reason for a run's status: a stable type, a sentence, and the next step. */
export interface StatusReason {
  readonly type: string;
  readonly reason: string;
  readonly next: string;
  /** Budgets that the run waits for. Raising them continues the run. */
  readonly budgets?: readonly string[];
}

/** Pause reason of a run that waits for a budget. Such a run continues without the operator. */
export const budgetEmptyReason: PauseReasonType = 'budget.empty';

/** True if a paused run waits for a budget, so that it continues automatically. */
export function waitsForBudget(reason: StatusReason | null | undefined): boolean {
  return reason?.type === budgetEmptyReason;
}

/** True if a paused run waits for the operator. */
export function needsResume(reason: StatusReason | null): boolean {
  return reason !== null && !waitsForBudget(reason);
}

/** Pause reasons that commands write to the tables. The workflow may not know them when it writes its next status. */
const pausesByCommand: readonly string[] = [
  'run.paused',
  'run.interrupted',
] satisfies readonly PauseReasonType[];

/** True if a command has paused the run in the tables, perhaps after the workflow's last call. */
export function isPausedByCommand(reason: StatusReason | null | undefined): boolean {
  return reason !== null && reason !== undefined && pausesByCommand.includes(reason.type);
}

/** The reason why a run is paused. */
export interface PauseReason extends StatusReason {
  readonly type: PauseReasonType | `service.${string}`;
}

/** The operator's reason to pause or cancel a run: text of an update in the Temporal UI, or the flags of a command. */
export type OperatorReason = string | { readonly by: string; readonly reason: string };

function whyText(what: string, { by, reason }: Exclude<OperatorReason, string>): string {
  return `${what} by ${by}${reason === '' ? '' : `: ${reason}`}`;
}

/** Makes the pause reason of a run that the operator pauses. */
export function pauseByOperator(runId: string, why: OperatorReason): PauseReason {
  const reason =
    typeof why === 'string' ? `paused in Temporal${why === '' ? '' : `: ${why}`}` : whyText('paused', why);
  return { type: 'run.paused', reason, next: `enrich resume ${runId}` };
}

/** Makes the reason of a run that the operator cancels. */
export function cancellationReason(runId: string, why: OperatorReason): StatusReason {
  return {
    type: 'run.cancelled',
    reason: typeof why === 'string' ? why || 'cancelled in Temporal' : whyText('cancelled', why),
    next: `enrich cancel ${runId} waits until the run has ended`,
  };
}

/** Returns what the operator must do about a paused run. Failures of calls, not in the table, need a fix. */
export function operatorActionFor(type: string): PauseReasonFacts['needs'] {
  return factsOf(type)?.needs ?? 'fix';
}

/** True if a quality gate has paused the run. */
export function isQualityGate(type: string): boolean {
  return factsOf(type)?.isQualityGate === true;
}

function factsOf(type: string): PauseReasonFacts | undefined {
  return (pauseReasons as Readonly<Record<string, PauseReasonFacts>>)[type];
}
