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
  PageInput,
  PageResult,
  PauseReason,
  StatusReason,
  PlanSummary,
  RunEnding,
  RunFacts,
  RunFigures,
  RunInput,
  RunPriority,
  RunStatus,
} from '../src/contract.ts';
import { long, quick } from './control-activities.ts';
import { LateResults } from './late-results.ts';
import { endPageSignal, pagePrioritySignal, wakeSignal, type RunProgress } from './messages.ts';
import { runDetails } from './run-details.ts';

const statusAttribute = { name: 'EnrichmentStatus', type: 'KEYWORD' } as const;
const waitsForAttribute = { name: 'EnrichmentWaitsFor', type: 'KEYWORD' } as const;
const sourceAttribute = { name: 'EnrichmentSource', type: 'KEYWORD' } as const;
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
  readonly file: string;
  readonly batchConcurrency: number;
  readonly late: LateResults | undefined;
  phase: RunProgress['phase'] = 'ingesting';
  /** Whose contacts the file has; null: not read yet, or read by an execution before this one. */
  source: string | null = null;
  plan: PlanSummary | null;
  /** What the service says of the credential; null: the command that began the run asked. */
  service: string | null;
  /** Why it does not go on; null: it does. */
  pauseReason: StatusReason | null;
  approved: boolean;
  cancelling: string | undefined;
  priority: RunPriority;
  page: number;
  figures: RunFigures | null;
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
    const { runId, phase, page, plan, service, pauseReason, figures, priority } = this;
    return {
      runId,
      phase,
      page,
      pages: plan?.pages ?? 0,
      plan,
      service,
      pauseReason,
      cancelling: this.cancelling ?? null,
      figures,
      priority,
      late: this.late?.status ?? null,
    };
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
    setCurrentDetails(runDetails(this.progress));
  }

  enter(phase: RunProgress['phase']): void {
    this.phase = phase;
    this.#upsertAttributes();
    this.show();
  }

  /** Only where the state has changed: each upsert is an action that is billed. */
  #upsertAttributes(): void {
    const { phase, figures, source } = this;
    const shown = workflowInfo().typedSearchAttributes;
    const waitsFor = this.#waitsFor();
    const isShown =
      shown.get(statusAttribute) === phase && (shown.get(waitsForAttribute) ?? null) === waitsFor;
    if (!this.#input.searchable || isShown) return;
    upsertSearchAttributes([
      { key: statusAttribute, value: phase },
      { key: waitsForAttribute, value: waitsFor },
      ...(source === null ? [] : [{ key: sourceAttribute, value: source }]),
      ...(figures
        ? [
            { key: rowsAttribute, value: figures.facts.rows },
            { key: creditsAttribute, value: Number(figures.facts.credits.settled) },
          ]
        : []),
    ]);
  }

  #waitsFor(): string | null {
    if (this.phase === 'awaiting approval') return 'approval';
    if (this.phase === 'awaiting late results') return 'late results';
    return this.phase === 'paused' ? (this.pauseReason?.type ?? null) : null;
  }

  /** Reads the figures from the tables: at the end of a page, and where the tables changed without `setStatus`. */
  async readFigures(): Promise<void> {
    const { runId } = this;
    this.showFigures(
      await quick.readRunFacts.executeWithOptions({ summary: 'read the figures of the run' }, [{ runId }]),
    );
  }

  showFigures(facts: RunFacts): void {
    this.figures = { facts, readAt: new Date().toISOString() };
    this.show();
  }

  /**
   * Writes the status. One after another, in the order in which they were asked for: a pause and a resume at the same
   * moment would otherwise be carried out in any order, and the database could say "running" after the pause was
   * acknowledged.
   */
  setStatus(status: RunStatus, why?: StatusReason): Promise<void> {
    const { runId } = this;
    const change = async (): Promise<void> =>
      this.showFigures(
        await quick.setRunStatus.executeWithOptions({ summary: `run is ${status}` }, [
          { runId, status, ...(why && { pauseReason: why }) },
        ]),
      );
    this.#changes = this.#changes.then(change, change);
    return this.#changes;
  }

  /**
   * Pauses the run, in the tables as well, until a person resumes or cancels it. Who reads the tables may be quick: the
   * run can be resumed before its status is written.
   */
  async pause(why: PauseReason): Promise<void> {
    this.pauseReason = why;
    this.enter('paused');
    await this.setStatus('paused', why);
    await this.waitUntil(() => this.pauseReason === null || this.isCancelling);
  }

  /** Is paused until a person resumes or cancels the run. */
  async untilResumed(why: StatusReason): Promise<void> {
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
    const { plan, service, page, figures, isPilotPassed, pauseReason, ending, priority } = this;
    if (!plan) throw new Error('a run continues as new only once it has its plan');
    const cancelling = this.cancelling ?? null;
    return continueAsNew<(input: RunInput) => Promise<RunFacts>>({
      ...this.#input,
      approved: true,
      priority,
      carried: { plan, service, page, figures, isPilotPassed, pauseReason, cancelling, ending },
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
