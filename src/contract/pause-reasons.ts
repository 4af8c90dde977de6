interface PauseReasonFacts {
  /** What a person does: `fix` the cause, take a `decision` about a limit of the run, or `nothing`. */
  readonly needs: 'fix' | 'decision' | 'nothing';
  /** A quality gate paused the run: running the same command again does not continue it. */
  readonly isQualityGate?: boolean;
  /** Text for the runbook. */
  readonly meaning: string;
}

/**
 * Why runs are paused. The alerts read `needs` as a label of the metric, and the runbook has a row for each. A run is
 * also paused by failures of calls: their types are `service.` and a name of the table `failureKinds`.
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

/** Why a run has its status: a stable type, a sentence, and the next step. */
export interface StatusReason {
  readonly type: string;
  readonly reason: string;
  readonly next: string;
  /** The budgets that the run waits for: it continues when they are raised. */
  readonly budgets?: readonly string[];
}

/** Type of the pause of a run that continues without the operator. */
export const emptyBudget: PauseReasonType = 'budget.empty';

/** Whether a paused run waits for a budget: it continues automatically. */
export function waitsForBudget(reason: StatusReason | null | undefined): boolean {
  return reason?.type === emptyBudget;
}

/** Whether a paused run waits for a person. */
export function needsResume(reason: StatusReason | null): boolean {
  return reason !== null && !waitsForBudget(reason);
}

/** Written to the tables by a command: the workflow may not know of them when it writes its next status. */
const pausesByCommand: readonly string[] = [
  'run.paused',
  'run.interrupted',
] satisfies readonly PauseReasonType[];

export function isPausedByCommand(reason: StatusReason | null | undefined): boolean {
  return reason !== null && reason !== undefined && pausesByCommand.includes(reason.type);
}

/** Why a run is paused. */
export interface PauseReason extends StatusReason {
  readonly type: PauseReasonType | `service.${string}`;
}

/** Why the operator pauses or cancels a run: the text of an update in Temporal, or what a command knows. */
export type Why = string | { readonly by: string; readonly reason: string };

function whyText(what: string, { by, reason }: Exclude<Why, string>): string {
  return `${what} by ${by}${reason === '' ? '' : `: ${reason}`}`;
}

/** The pause of a run by the operator. */
export function pauseByPerson(runId: string, why: Why): PauseReason {
  const reason =
    typeof why === 'string' ? `paused in Temporal${why === '' ? '' : `: ${why}`}` : whyText('paused', why);
  return { type: 'run.paused', reason, next: `enrich resume ${runId}` };
}

/** Why a run is being cancelled. */
export function cancellation(runId: string, why: Why): StatusReason {
  return {
    type: 'run.cancelled',
    reason: typeof why === 'string' ? why || 'cancelled in Temporal' : whyText('cancelled', why),
    next: `enrich cancel ${runId} waits until the run has ended`,
  };
}

/** What the operator must do about a paused run: for failures of calls, which are not in the table, fix the cause. */
export function needOf(type: string): PauseReasonFacts['needs'] {
  return factsOf(type)?.needs ?? 'fix';
}

/** Whether a quality gate has paused a run. */
export function isQualityGate(type: string): boolean {
  return factsOf(type)?.isQualityGate === true;
}

function factsOf(type: string): PauseReasonFacts | undefined {
  return (pauseReasons as Readonly<Record<string, PauseReasonFacts>>)[type];
}
