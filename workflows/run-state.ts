import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import type {
  BatchTally,
  PageInput,
  PageResult,
  PauseReason,
  PlanSummary,
  RunEnding,
  RunFacts,
  RunInput,
  RunPriority,
  RunStatus,
} from '../src/contract.ts';
import { long, quick } from './control-activities.ts';
import { LateResults } from './late-results.ts';
import { endPageSignal, pagePrioritySignal, wakeSignal, type RunProgress } from './messages.ts';
import { progressTable } from './progress-table.ts';
import { add, nothing } from './tally.ts';

const statusAttribute = { name: 'EnrichmentStatus', type: 'KEYWORD' } as const;
const rowsAttribute = { name: 'EnrichmentRows', type: 'INT' } as const;
const creditsAttribute = { name: 'EnrichmentCreditsSettled', type: 'DOUBLE' } as const;

type Page = ChildWorkflowHandle<(input: PageInput) => Promise<PageResult>>;

/** Temporal suggests it long before it terminates a workflow for its history. */
export function isHistoryLong(): boolean {
  return workflowInfo().continueAsNewSuggested;
}

/** The state of a run, as its own workflow knows it: what its steps, and the updates that steer it, share. */
export class RunState {
  readonly runId: string;
  readonly batchConcurrency: number;
  readonly late: LateResults | undefined;
  phase: RunProgress['phase'] = 'ingesting';
  plan: PlanSummary | null;
  /** What the service says of the credential; null: the command that began the run asked. */
  service: string | null;
  /** Why it does not go on; null: it does. */
  pauseReason: PauseReason | null;
  approved: boolean;
  cancelling: string | undefined;
  priority: RunPriority;
  page: number;
  tally: BatchTally;
  isPilotPassed: boolean;
  /** Every call is made: how the run ends once its late results are there. */
  ending: RunEnding | null;
  /** Counts the times that it was resumed: one that comes while a page is ending must not be lost. */
  resumes = 0;
  /** A budget was changed since this was last set to false. */
  budgetChanged = false;
  /** Pages that a person wants no more of, and those of them whose people have their outcome by now. */
  readonly skipping = new Set<number>();
  readonly skipped = new Set<number>();
  readonly #input: RunInput;
  #openPage: Promise<Page> | undefined;
  #changes: Promise<void> = Promise.resolve();

  constructor(input: RunInput) {
    const { runId, carried } = input;
    this.#input = input;
    this.runId = runId;
    this.batchConcurrency = input.batchConcurrency;
    this.approved = input.approved;
    this.priority = input.priority;
    this.plan = carried?.plan ?? null;
    this.service = carried?.service ?? null;
    this.page = carried?.page ?? 0;
    this.tally = carried?.tally ?? nothing;
    this.isPilotPassed = carried?.isPilotPassed ?? false;
    this.pauseReason = carried?.pauseReason ?? null;
    this.cancelling = carried?.cancelling ?? undefined;
    this.ending = carried?.ending ?? null;
    this.late =
      input.lateResults &&
      new LateResults({
        settle: (summary) => long.syncLateResults.executeWithOptions({ summary }, [{ runId }]),
        onSync: () => this.show(),
        pollAfterMilliseconds: input.lateResults.pollAfterSeconds * 1_000,
        // The execution before this one may have been signalled just before it ended.
        isDelivered: carried !== undefined,
      });
  }

  /** What the query `progress` tells. */
  get progress(): RunProgress {
    const { phase, page, plan, service, pauseReason, tally, priority } = this;
    const late = this.late?.status ?? null;
    return { phase, page, pages: plan?.pages ?? 0, plan, service, pauseReason, tally, priority, late };
  }

  get isCancelling(): boolean {
    return this.cancelling !== undefined;
  }

  /** Deliveries that have taken effect. */
  get arrived(): number {
    return this.late?.status.arrived ?? 0;
  }

  endsAs(ending: RunEnding['ending'], budget?: string): RunEnding {
    return { ending, ...(budget !== undefined && { budget }), arrivedBefore: this.arrived };
  }

  show(): void {
    setCurrentDetails(progressTable(this.progress));
  }

  enter(phase: RunProgress['phase']): void {
    this.phase = phase;
    if (this.#input.searchable) {
      upsertSearchAttributes([
        { key: statusAttribute, value: phase },
        ...(this.plan ? [{ key: rowsAttribute, value: this.plan.rows }] : []),
        { key: creditsAttribute, value: Number(this.tally.creditsSettled) },
      ]);
    }
    this.show();
  }

  count(tally: BatchTally): void {
    this.tally = add(this.tally, tally);
  }

  /**
   * Writes the status. One after another, in the order in which they were asked for: a pause and a resume at the same
   * moment would otherwise be carried out in any order, and the database could say "running" after the pause was
   * acknowledged.
   */
  setStatus(status: RunStatus, why?: PauseReason): Promise<void> {
    const { runId } = this;
    const change = (): Promise<void> =>
      quick.setRunStatus.executeWithOptions({ summary: `run is ${status}` }, [
        { runId, status, ...(why && { pauseReason: why }) },
      ]);
    this.#changes = this.#changes.then(change, change);
    return this.#changes;
  }

  /** Is paused until a person resumes or cancels the run. */
  async untilResumed(why: PauseReason): Promise<void> {
    this.pauseReason = why;
    this.enter('paused');
    await this.waitUntil(() => this.pauseReason === null || this.isCancelling);
  }

  /**
   * Waits for a condition, however long that takes: where the history grows long meanwhile, the wait continues as new.
   *
   * @param timer after which it waits no longer
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

  /** Goes on from here with an empty history. */
  async continueAsNew(): Promise<never> {
    await this.late?.stop();
    await condition(allHandlersFinished);
    // From here on without an await: a signal or an update in between would be lost.
    const { plan, service, page, tally, isPilotPassed, pauseReason, ending, priority } = this;
    if (!plan) throw new Error('a run continues as new only once it has its plan');
    const cancelling = this.cancelling ?? null;
    return continueAsNew<(input: RunInput) => Promise<RunFacts>>({
      ...this.#input,
      approved: true,
      priority,
      carried: { plan, service, page, tally, isPilotPassed, pauseReason, cancelling, ending },
    });
  }

  /** Runs a page to its end. Where this history grows long beside it, the page is told to end. */
  async whileOpen(start: () => Promise<Page>): Promise<PageResult> {
    const starting = start();
    this.#openPage = starting;
    const isOver = (): boolean => this.#openPage !== starting;
    void condition(() => isOver() || isHistoryLong()).then(() =>
      isOver() ? undefined : this.#tellPage((page) => page.signal(endPageSignal)),
    );
    try {
      const page = await starting;
      return await page.result();
    } finally {
      this.#openPage = undefined;
    }
  }

  /** Lets the page that is open end its wait for the rate window. */
  wakePage(): Promise<void> {
    return this.#tellPage((page) => page.signal(wakeSignal));
  }

  tellPagePriority(): Promise<void> {
    return this.#tellPage((page) => page.signal(pagePrioritySignal, this.priority));
  }

  /** Ends the page, if it is the one that is open: resolves when its calls have ended. */
  async endPage(page: number): Promise<void> {
    if (page !== this.page) return;
    const open = this.#openPage;
    await this.#tellPage((child) => child.signal(endPageSignal));
    await condition(() => this.#openPage === undefined || this.#openPage !== open);
  }

  async #tellPage(tell: (page: Page) => Promise<void>): Promise<void> {
    // The page may have ended meanwhile: then there is nothing to tell.
    await this.#openPage?.then(tell).catch(() => {});
  }
}
