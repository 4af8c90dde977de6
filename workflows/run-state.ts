import {
  allHandlersFinished,
  condition,
  continueAsNew,
  currentUpdateInfo,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { UpdateRequest } from '../src/contract/activities.ts';
import { cancellation, type StatusReason } from '../src/contract/pause-reasons.ts';
import type { PlanSummary } from '../src/contract/plan-summary.ts';
import type { RunFacts, RunFigures } from '../src/contract/run-facts.ts';
import type { RunEnding, RunInput } from '../src/contract/run-input.ts';
import type { RunPriority } from '../src/contract/run-priorities.ts';
import type { RunStatus } from '../src/contract/run-statuses.ts';
import { long, quick } from './control-activities.ts';
import { LateResults } from './late-results.ts';
import type { RunProgress } from './messages.ts';
import { PageWorkflow } from './page-workflow.ts';
import { RunAttributes } from './run-attributes.ts';
import { runDetails } from './run-details.ts';
import { WriteQueue } from './write-queue.ts';

/** Temporal suggests continue-as-new long before it terminates a workflow with a long history. */
export function isHistoryLong(): boolean {
  return workflowInfo().continueAsNewSuggested;
}

/** The request of an update's handler, or of the workflow itself. */
export function updateRequest(runId: string): UpdateRequest {
  const update = currentUpdateInfo();
  return { runId, ...(update && { updateId: update.id }) };
}

/** The state of a run in its workflow, shared by its steps and updates. */
export class RunState {
  readonly runId: string;
  readonly file: string;
  readonly batchConcurrency: number;
  readonly late: LateResults | undefined;
  phase: RunProgress['phase'] = 'ingesting';
  /** The source of the file's contacts; null: not read yet, or read by an earlier execution. */
  source: string | null = null;
  plan: PlanSummary | null;
  /** What the service says of the credential; null: the command that began the run asked. */
  service: string | null;
  /** Why the run waits or failed; null: it continues. */
  pauseReason: StatusReason | null;
  /** Why the open page waits until the next call may begin. */
  pageWait: string | null = null;
  approved: boolean;
  cancelling: string | undefined;
  priority: RunPriority;
  page: number;
  figures: RunFigures | null;
  isPilotPassed: boolean;
  /** Every call is made: how the run ends once its late results are there. */
  ending: RunEnding | null;
  /** A budget was changed since this was last set to false. */
  budgetChanged = false;
  /** How often in a row a page did not find the credits that the budgets have. */
  missedCredits = 0;
  /** Pages that a person skips, and the skipped pages whose people have their outcome. */
  readonly skipping = new Set<number>();
  readonly skipped: Set<number>;
  readonly pageWorkflow = new PageWorkflow();
  readonly #input: RunInput;
  readonly #statusWrites = new WriteQueue();
  readonly #attributes = new RunAttributes();
  #resumes = 0;

  constructor(input: RunInput) {
    const { runId, carried } = input;
    this.#input = input;
    this.runId = runId;
    this.file = input.file;
    this.batchConcurrency = input.batchConcurrency;
    this.approved = input.approved;
    this.priority = input.priority;
    this.plan = carried?.plan ?? null;
    this.service = carried?.service ?? null;
    this.page = carried?.page ?? 0;
    this.figures = carried?.figures ?? null;
    this.isPilotPassed = carried?.isPilotPassed ?? false;
    this.pauseReason = carried?.pauseReason ?? null;
    this.cancelling = carried?.cancelling ?? undefined;
    this.ending = carried?.ending ?? null;
    this.skipped = new Set(carried?.skipped);
    this.late =
      input.lateResults &&
      new LateResults({
        settle: (summary) => long.syncLateResults.executeWithOptions({ summary }, [{ runId }]),
        onSync: () => this.show(),
        pollAfterMilliseconds: input.lateResults.pollAfterSeconds * 1_000,
        // The earlier execution may have received a signal just before it ended.
        isDelivered: carried !== undefined,
      });
  }

  /** The answer of the query `progress`. */
  get progress(): RunProgress {
    const { runId, phase, page, plan, service, pauseReason, pageWait, figures, priority } = this;
    return {
      runId,
      phase,
      page,
      pages: plan?.pages ?? 0,
      plan,
      service,
      pauseReason,
      pageWait,
      cancelling: this.cancelling ?? null,
      figures,
      priority,
      late: this.late?.status ?? null,
    };
  }

  get isCancelling(): boolean {
    return this.cancelling !== undefined;
  }

  /** Counts a resume by a person. */
  countResume(): void {
    this.#resumes += 1;
  }

  /**
   * Begins to watch for a resume, which may come at any await and must not be lost.
   *
   * @returns a function: whether a person has resumed the run since
   */
  watchResume(): () => boolean {
    const before = this.#resumes;
    return () => this.#resumes !== before;
  }

  /** Whether every page that is left was skipped: no person needs a budget. */
  get isRestSkipped(): boolean {
    const pages = this.plan?.pages ?? 0;
    for (let page = this.page; page <= pages; page += 1) if (!this.skipped.has(page)) return false;
    return true;
  }

  /** Deliveries that have taken effect. */
  get arrived(): number {
    return this.late?.status.arrived ?? 0;
  }

  endsAs(ending: RunEnding['ending'], budget?: string): RunEnding {
    return { ending, ...(budget !== undefined && { budget }), arrivedBefore: this.arrived };
  }

  show(): void {
    setCurrentDetails(runDetails(this.progress));
  }

  enter(phase: RunProgress['phase']): void {
    this.phase = phase;
    this.#showState();
  }

  /** @param why null: the page continues, or has ended */
  pageWaits(why: string | null): void {
    this.pageWait = why;
    this.#showState();
  }

  #showState(): void {
    if (this.#input.searchable) this.#attributes.write(this.progress, this.source);
    this.show();
  }

  /** Reads the figures from the tables. Until a resume is written, the tables have the pause that the resume ends. */
  async readFigures(): Promise<void> {
    await this.#statusWrites.drain();
    const summary = 'read the figures of the run';
    this.showFigures(await quick.readRunFacts.executeWithOptions({ summary }, [{ runId: this.runId }]));
  }

  showFigures(facts: RunFacts): void {
    this.figures = { facts, readAt: new Date().toISOString() };
    // `enrich cancel` records the cancellation before it sends the update, and can be interrupted in between.
    if (facts.status === 'cancelling')
      this.cancelling ??= cancellation(facts.run_id, facts.reason ?? '').reason;
    this.show();
  }

  /**
   * Writes the status, one write after another in the order of the calls. Otherwise a pause and a resume at the same
   * time could be written in any order, and the database could have `running` after the pause was acknowledged.
   */
  setStatus(status: RunStatus, why?: StatusReason, by?: 'person'): Promise<void> {
    const { runId } = this;
    const request = {
      ...updateRequest(runId),
      status,
      ...(why && { pauseReason: why }),
      ...(by && { byPerson: true }),
    };
    const options = { summary: `run is ${status}` };
    return this.#statusWrites.add(async () =>
      this.showFigures(await quick.setRunStatus.executeWithOptions(options, [request])),
    );
  }

  /**
   * Pauses the run, also in the tables, until a person resumes or cancels it. The resume may arrive before the status
   * is written.
   */
  async pause(why: StatusReason): Promise<void> {
    this.pauseReason = why;
    this.enter('paused');
    await this.setStatus('paused', why);
    await this.waitUntil(() => this.pauseReason === null || this.isCancelling);
  }

  /** Waits until a person resumes or cancels the run. */
  async untilResumed(why: StatusReason): Promise<void> {
    this.pauseReason = why;
    this.enter('paused');
    await this.waitUntil(() => this.pauseReason === null || this.isCancelling);
  }

  /**
   * Waits for a condition. If the history grows long meanwhile, the workflow continues as new and waits on.
   *
   * @param timer maximum wait
   */
  async waitUntil(
    isMet: () => boolean,
    timer?: { readonly milliseconds: number; readonly summary: string },
  ): Promise<void> {
    const isOver = (): boolean => isMet() || isHistoryLong();
    if (timer) await condition(isOver, timer.milliseconds, { summary: timer.summary });
    else await condition(isOver);
    if (!isMet() && isHistoryLong()) await this.continueAsNew();
  }

  /** Continues as new, with an empty history. @param isOpenAgain whether the run calls again although it had ended */
  async continueAsNew(isOpenAgain = (): boolean => false): Promise<never> {
    await this.late?.stop();
    await condition(allHandlersFinished);
    // No await below: a signal or an update in between would be lost.
    if (isOpenAgain()) this.ending = null;
    const { plan, service, page, figures, isPilotPassed, pauseReason, ending, cancelling = null } = this;
    if (!plan) throw new Error('a run continues as new only once it has its plan');
    const skipped = [...this.skipped].filter((left) => left >= page);
    return continueAsNew<(input: RunInput) => Promise<RunFacts>>({
      ...this.#input,
      approved: true,
      priority: this.priority,
      carried: { plan, service, page, figures, isPilotPassed, pauseReason, cancelling, ending, skipped },
    });
  }
}
