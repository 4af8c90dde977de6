import type { RunOptions, ScheduledOptions } from './domain/runs/run-options.ts';

/**
 * Names and payload types that workflows, activities and clients share. Imports only types of the domain, so that
 * every side can import it.
 *
 * Everything here ends up in Temporal's history and UI: ids, counts, times and reasons, never personal data or secrets.
 */

/** Everything but the calls: ingest, plan, page opening, finish. */
export const controlTaskQueue = 'enrichment-control';
/**
 * The task queues of paid calls. Each call is one long activity and each queue has few slots, so that calls never
 * starve other activities. Each priority has its own queue: on a shared queue, waiting batches of a backfill would hold
 * all slots while a nightly run begins. With 600 people a night beside a backfill, up to 16 calls of the backfill went
 * first on one queue. Inside a worker the call queue orders the batches.
 */
export const callTaskQueues = {
  'ad-hoc': 'enrichment-calls-ad-hoc',
  nightly: 'enrichment-calls-nightly',
  backfill: 'enrichment-calls-backfill',
} as const;

/** Temporal's order of the tasks that wait for a worker, lowest first: a run's activities and pages inherit it. */
export const taskPriorities = { 'ad-hoc': 2, nightly: 3, backfill: 4 } as const satisfies Readonly<
  Record<RunPriority, number>
>;

/** Calls of a run with a higher priority go first. */
export type RunPriority = RunOptions['priority'];

/** Every priority, the highest first. */
export const runPriorities = (Object.keys(taskPriorities) as RunPriority[]).sort(
  (one, other) => taskPriorities[one] - taskPriorities[other],
);

export const workflowTypes = {
  run: 'enrichmentRun',
  page: 'enrichmentPage',
  sweep: 'lateResultSweep',
  prune: 'retentionPrune',
  scheduled: 'scheduledRun',
} as const;

/** From the receiver to a run: its inbox has a delivery. Coalesced; a lost or repeated signal does no harm. */
export const deliveryReceivedSignalName = 'deliveryReceived';

/** From a command to a run: a budget that the run waits for has changed. A repeated signal does no harm. */
export const budgetChangedSignalName = 'budgetChanged';

/** The schedule that syncs late results of ended runs. */
export const sweepScheduleId = 'enrichment-late-results';

/** The schedule that removes data older than `RETENTION`. */
export const pruneScheduleId = 'enrichment-retention';

/**
 * Typed search attributes that runs carry; the dev server registers them at its start. `EnrichmentWaitsFor` is the type
 * of a pause reason (`budget.empty`), `approval`, `late results`, or `next call` (a full rate window, or calls of
 * higher priority); a run that waits for none of them has no value.
 */
export const searchAttributes = {
  EnrichmentStatus: 'Keyword',
  EnrichmentWaitsFor: 'Keyword',
  EnrichmentSource: 'Keyword',
  EnrichmentFile: 'Keyword',
  EnrichmentSchedule: 'Keyword',
  EnrichmentAsOf: 'Datetime',
  EnrichmentRows: 'Int',
  EnrichmentCreditsSettled: 'Double',
} as const;

/** About a thousand people: 100 calls, some 700 events of history. */
export const peoplePerPage = 1_000;
/** Limits of the interface document: at most 10 entries in `details`. */
export const peoplePerCall = 10;

/**
 * Statuses of a run in `enrichment.runs`. A run keeps a final status. The last four are part of the public surface.
 */
export const runStatuses = {
  ingesting: 'unfinished',
  planning: 'unfinished',
  awaiting_approval: 'unfinished',
  running: 'unfinished',
  cancelling: 'unfinished',
  planned: 'final',
  paused: 'unfinished',
  finished: 'final',
  cancelled: 'final',
  failed: 'final',
} as const;

export type RunStatus = keyof typeof runStatuses;

export interface RunInput {
  readonly runId: string;
  /** The file's name and the run's own budget, for readers of the input in the Temporal UI. */
  readonly file: string;
  readonly maxCredits: string | null;
  /** Already allowed to spend (`--yes`, or the terminal approved). */
  readonly approved: boolean;
  /** Batches of a page that run at the same time. */
  readonly batchConcurrency: number;
  readonly priority: RunPriority;
  /** The namespace knows our search attributes. */
  readonly searchable: boolean;
  /** The service has not been asked yet whether it accepts the credential. */
  readonly checksService: boolean;
  /**
   * The run waits for results that arrive after the answers; absent if everything comes with the answer.
   */
  readonly lateResults?: { readonly pollAfterSeconds: number };
  /** Carried over continue-as-new. */
  readonly carried?: CarriedState;
}

/** State that an execution of a run's workflow passes to the next one by continue-as-new. */
export interface CarriedState {
  readonly plan: PlanSummary;
  /** What the service says of the credential; null: not asked. */
  readonly service: string | null;
  readonly page: number;
  readonly figures: RunFigures | null;
  readonly isPilotPassed: boolean;
  readonly pauseReason: StatusReason | null;
  /** Why the run is being cancelled; null: it is not. */
  readonly cancelling: string | null;
  /** Every call is made, and late results are awaited. */
  readonly ending: RunEnding | null;
}

/** How a run ends once its late results are there. */
export interface RunEnding {
  readonly ending: 'finished' | 'over_budget' | 'cancelled';
  /** The budget that had no credits left for the rest. */
  readonly budget?: string;
  /** Deliveries that had taken effect before. */
  readonly arrivedBefore: number;
}

/**
 * Where a schedule finds its export, each time anew: a path as the worker sees it, an address, a pattern of either, a
 * table, or a query. `*` and `?` stand in the name of a file, and `{date}` anywhere for the as-of date in the
 * schedule's time zone, as 2026-11-21.
 */
export type ExportChoice =
  | { readonly kind: 'file' | 'every-new' | 'from-table' | 'query'; readonly from: string }
  | { readonly kind: 'newest'; readonly from: string; readonly by: 'name' | 'time' };

/** Input of a schedule's workflow: the options of its runs, and what belongs to the schedule itself. */
export interface ScheduledRunInput extends ScheduledOptions {
  readonly schedule: string;
  /** Workers of another service refuse it; null: the service of whichever worker runs it. */
  readonly service: string | null;
  /** The group of a schedule that `enrich schedule apply` manages; null: made by hand. */
  readonly group: string | null;
  readonly export: ExportChoice;
  readonly timezone: string;
  /** The schedule may run without any budget (`--no-budget`). */
  readonly noBudget: boolean;
  /** The namespace knows our search attributes. */
  readonly searchable: boolean;
}

/** What a schedule found to do. */
export interface ScheduledRuns {
  /** Begun in the warehouse and approved, oldest file first; their workflows are still to be started. */
  readonly runs: readonly RunInput[];
  /** Files that could not be read this time: they fail this time of the schedule, and are tried again at the next. */
  readonly refused: readonly RefusedExport[];
  /** Files that are new as well, and are left for the next time. */
  readonly left: number;
}

export interface RefusedExport {
  readonly file: string;
  readonly reason: string;
}

/** What became of one time of a schedule: the result that Temporal shows. */
export interface ScheduledRunResult {
  /** The time that the schedule stood for, as ISO 8601. */
  readonly asOf: string;
  readonly summary: string;
  readonly runs: readonly {
    readonly runId: string;
    readonly file: string;
    readonly status: string;
    readonly calls: number;
    readonly creditsSettled: string;
  }[];
}

export interface PageInput {
  readonly runId: string;
  /** From 1. */
  readonly page: number;
  readonly batchConcurrency: number;
  readonly priority: RunPriority;
}

export interface RunRequest {
  readonly runId: string;
}

export interface PageRequest extends RunRequest {
  readonly page: number;
}

export interface BatchesRequest extends PageRequest {
  /** From 1 within the run. */
  readonly batches: readonly number[];
}

export interface IngestResult {
  readonly rows: number;
  readonly malformed: number;
  readonly source: string;
}

interface PauseReasonFacts {
  /** What a person does: `fix` the cause, take a `decision` about a limit of the run, or `nothing`. */
  readonly needs: 'fix' | 'decision' | 'nothing';
  /** A quality gate paused the run: the same command given again does not continue it. */
  readonly isQualityGate?: boolean;
  /** Text for the runbook. */
  readonly meaning: string;
}

/**
 * Why runs are paused. Alerts and the runbook follow this table. A run is also paused by failures of calls: their types
 * are `service.` and a name of the table `failureKinds`.
 */
export const pauseReasons = {
  'run.paused': { needs: 'nothing', meaning: 'a person paused the run (no alert)' },
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
    meaning: 'the service refuses every person of a batch, one by one',
  },
  'service.overbilled': { needs: 'fix', meaning: 'a call was billed above its worst case' },
  'answer.refused-by-database': {
    needs: 'fix',
    meaning:
      'PostgreSQL refuses to store a paid answer; its body is in `enrichment.raw_answers` and its call is unknown',
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

/** Why a run is paused. */
export interface PauseReason extends StatusReason {
  readonly type: PauseReasonType | `service.${string}`;
}

/** Whether a quality gate has paused a run. */
export function isQualityGate(type: string): boolean {
  const facts: Readonly<Record<string, PauseReasonFacts>> = pauseReasons;
  return facts[type]?.isQualityGate === true;
}

/** Whether a run continues after its pilot; the figures are in the summary or in the pause reason. */
export type PilotJudgement =
  | { readonly kind: 'continue'; readonly summary: string }
  | { readonly kind: 'pause'; readonly pauseReason: PauseReason };

/** What a run does when a budget is empty. */
export type BudgetResolution =
  /** There are credits again. */
  | { readonly kind: 'open' }
  /** It ends; people who were not asked for become `over_budget`. */
  | { readonly kind: 'finish'; readonly budget: string }
  /** It waits for a person, or until the budget's next period begins. */
  | { readonly kind: 'wait'; readonly pauseReason: StatusReason; readonly milliseconds: number | null };

/** A plan in figures; credits are decimals as text. */
export interface PlanSummary {
  readonly planHash: string;
  readonly rows: number;
  /** Rows that fall out before anything is paid, by outcome. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Contacts that get the data of a known person without a call, at most. */
  readonly filled: number;
  /** Rows that will be asked for. */
  readonly people: number;
  /** Those of them whom an earlier call found. */
  readonly foundBefore: number;
  /** Those of them who opted out of calls, in a run that asks for phones: their phones are not asked for. */
  readonly peopleWithoutPhones: number;
  readonly calls: number;
  readonly pages: number;
  readonly credits: { readonly minimum: string; readonly expected: string; readonly worstCase: string };
  /** The range of the expected credits, and the calls that show it; no calls: it is assumed. */
  readonly expectation: {
    readonly low: string;
    readonly high: string;
    readonly calls: number;
    /** Whose calls these are; null: of all sources. */
    readonly source: string | null;
    /** The assumption in words, in place of calls. */
    readonly assumption: string | null;
  };
  /** What of the export is not as the run expects, a sentence each. */
  readonly unmet: readonly string[];
  /** People who are asked for first, in the first pages; null: the run has no pilot. */
  readonly pilot: { readonly people: number; readonly pages: number } | null;
  /** A call whose answer is lost is made once more: the worst case counts everybody twice. */
  readonly asksUnknownAgain: boolean;
  /** The tightest budget that applies, if the worst case does not fit it, and what the run does where it is empty. */
  readonly shortBudget: {
    readonly budget: string;
    readonly available: string;
    readonly onEmpty: 'finish' | 'pause';
  } | null;
  /** What the calls are held to, by RATE_LIMITS and by what the service says: `20/minute, 600/hour`. */
  readonly rateLimits: string;
  readonly etaSeconds: number;
}

export type IngestOutcome =
  | ({ readonly kind: 'ingested' } & IngestResult)
  | { readonly kind: 'refused'; readonly pauseReason: StatusReason };

export type PlanOutcome =
  | {
      readonly kind: 'planned';
      readonly plan: PlanSummary;
      readonly firstOpenPage: number;
      /** Why the run waits for a person before it spends; absent: the export is as expected, or was accepted. */
      readonly unmet?: PauseReason;
    }
  | { readonly kind: 'refused'; readonly pauseReason: StatusReason };

/** What the service says of the credential before the run spends anything, in words for a person. */
export type ServiceCheck =
  | { readonly kind: 'ready'; readonly status: string }
  | { readonly kind: 'refused'; readonly pauseReason: StatusReason };

export interface OpenPage {
  /** Numbers of the batches that still hold people to ask for. */
  readonly batches: readonly number[];
  readonly people: number;
}

/** What became of one batch; `calls` are those of this execution. */
export type BatchResult =
  | { readonly kind: 'done'; readonly calls: number }
  /** The rate windows are full or the service asked for a pause: come again then. */
  | {
      readonly kind: 'wait';
      readonly calls: number;
      readonly milliseconds: number;
      readonly reason: string;
    }
  /** No credits are left for even one person; what is left of the run is over budget. */
  | { readonly kind: 'over_budget'; readonly calls: number; readonly budget: string }
  /**
   * Nothing may be sent now: the run was paused or cancelled, or the service refuses the key or has no credits left.
   */
  | { readonly kind: 'stopped'; readonly calls: number; readonly pauseReason: StatusReason };

/** What became of several batches: `done`, or why those that are `left` are not. */
export type BatchesResult = BatchResult & { readonly left: readonly number[] };

/** The state of results that come after their answers, in requests and deliveries. */
export interface LateResultsStatus {
  /** Requests whose results are waited for. */
  readonly awaited: number;
  /** Requests whose results did not come in time; they are applied all the same if they come. */
  readonly expired: number;
  /** Deliveries that took effect. */
  readonly arrived: number;
  /** Of those, after the run had ended. */
  readonly late: number;
  /** Deliveries about people who were not asked for. */
  readonly orphaned: number;
  /** Deliveries that lie in the inbox. */
  readonly waiting: number;
  /** When the run stops waiting, as ISO 8601; null where nothing is awaited. */
  readonly until: string | null;
  /** When these figures were read, by the database's clock, as ISO 8601. */
  readonly readAt: string;
  /**
   * When to sync next at the latest, by the same clock: a poll is due and its window has a free slot, or a deadline
   * passes.
   */
  readonly nextSyncAt: string | null;
}

export type PageResult =
  | { readonly kind: 'done'; readonly calls: number }
  /** Its run told it to end, or its history is long: people of it are still open. */
  | { readonly kind: 'unfinished'; readonly calls: number }
  | { readonly kind: 'over_budget'; readonly calls: number; readonly budget: string }
  | { readonly kind: 'stopped'; readonly calls: number; readonly pauseReason: StatusReason };

/** An undo of a run: its values are removed from contacts, its costs stay. */
export interface Undone {
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
}

/** The object that `--json` prints last and `enrich status --json` prints: part of the public surface. */
export interface RunFacts {
  readonly run_id: string;
  readonly workflow_id: string;
  readonly status: RunStatus;
  /** A stable name of the reason for the status, or of what an ended run leaves to a person, such as `budget.empty`. */
  readonly reason_type: string | null;
  readonly reason: string | null;
  readonly next: string | null;
  readonly source: string | null;
  readonly file: string;
  /** `sandbox`, or the address of the service without secrets. */
  readonly service: string;
  readonly plan_hash: string | null;
  readonly rows: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Contacts that got the data of a known person without a call. */
  readonly filled: number;
  readonly calls: number;
  /** The run's own budget; null: none. */
  readonly max_credits: string | null;
  readonly credits: { readonly settled: string; readonly reserved: string; readonly unknown: string };
  /** What the plan expected, with its range; null: not planned. */
  readonly expected_credits: {
    readonly expected: string;
    readonly low: string;
    readonly high: string;
  } | null;
  readonly late_results: {
    readonly awaited: number;
    readonly arrived: number;
    readonly late: number;
    readonly expired: number;
    readonly orphaned: number;
    /** What an ended run still lacks, in a sentence; null: nothing. */
    readonly missing: string | null;
  };
  readonly undone: Undone | null;
}

/** Figures of a run, and when its workflow read them, as ISO 8601. */
export interface RunFigures {
  readonly facts: RunFacts;
  readonly readAt: string;
}

/** Counts of what retention removed. */
export interface Pruned {
  /** Bodies of answers. */
  readonly answers: number;
  /** Bodies of deliveries. */
  readonly deliveries: number;
  /** Rows of exports that say nothing of people any more. */
  readonly rows: number;
  /** Old data that is kept because its calls or deliveries are still open. */
  readonly kept: {
    readonly answers: number;
    readonly deliveries: number;
    readonly quarantine: number;
    readonly runs: number;
  };
}

/** Activities of the control queue. Every one is idempotent: its truth is in the database. */
export interface ControlActivities {
  ingestExport(request: RunRequest): Promise<IngestOutcome>;
  planRun(request: RunRequest): Promise<PlanOutcome>;
  /** Asks the service whether it accepts the credential, whom the credential acts as, and what its limits are. */
  checkService(request: RunRequest): Promise<ServiceCheck>;
  /** Writes the status; returns the run's figures. */
  setRunStatus(
    request: RunRequest & { readonly status: RunStatus; readonly pauseReason?: StatusReason },
  ): Promise<RunFacts>;
  /** The figures of a run as `enrich status --json` prints them. */
  readRunFacts(request: RunRequest): Promise<RunFacts>;
  openPage(request: PageRequest): Promise<OpenPage>;
  /** One sync: applies the run's inbox, makes the polls that are due, and returns the status of late results. */
  syncLateResults(request: RunRequest): Promise<LateResultsStatus>;
  /** A sync for runs that have ended or lost their workflow; returns how many deliveries took effect. */
  sweepLateResults(): Promise<{ readonly applied: number }>;
  /** Removes data older than the worker's `RETENTION`; returns the counts. */
  pruneWarehouse(): Promise<Pruned>;
  /** Finds the exports of a schedule and begins their runs; a retry finds the same runs. */
  beginScheduledRuns(request: ScheduledRunInput & { readonly asOf: string }): Promise<ScheduledRuns>;
  /** Removes the records of runs whose workflows were not started. */
  discardRuns(request: { readonly runIds: readonly string[]; readonly asOf: string }): Promise<void>;
  /** Judges the pilot, and pauses the run if a quality gate or the missing approval requires it. */
  judgePilot(request: RunRequest): Promise<PilotJudgement>;
  /** Decides what the run does when a page has no credits left. */
  resolveBudgetExhaustion(request: RunRequest): Promise<BudgetResolution>;
  /** @param request.limit credits as text, or `none` */
  changeRunBudget(request: RunRequest & { readonly limit: string; readonly reason: string }): Promise<void>;
  changePriority(request: RunRequest & { readonly priority: RunPriority }): Promise<void>;
  /** Waits for the page's calls in flight; returns how many people will not be asked for. */
  skipPage(request: PageRequest & { readonly reason: string }): Promise<{ readonly people: number }>;
  /** Compares the contacts of the run with known people; returns how many got data and how many lost it. */
  reconcileContacts(request: RunRequest): Promise<{ readonly filled: number; readonly withdrawn: number }>;
  finishRun(
    request: RunRequest & {
      readonly ending: 'finished' | 'over_budget' | 'cancelled';
      /** The budget that ended it. */
      readonly budget?: string;
    },
  ): Promise<RunFacts>;
}

/** Activities of the call queues. */
export interface CallActivities {
  enrichBatches(request: BatchesRequest): Promise<BatchesResult>;
}
