import {
  condition,
  getExternalWorkflowHandle,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type {
  BatchTally,
  PlanSummary,
  RunInput,
  RunPriority,
  RunStatus,
  PauseReason,
} from '../src/contract.ts';
import { long, quick } from './control-activities.ts';
import { LateResults } from './late-results.ts';
import { pagePrioritySignal, skipSignal, wakeSignal, type RunProgress } from './messages.ts';
import { progressTable } from './progress-table.ts';
import { add, nothing } from './tally.ts';

const statusAttribute = { name: 'EnrichmentStatus', type: 'KEYWORD' } as const;
const rowsAttribute = { name: 'EnrichmentRows', type: 'INT' } as const;
const creditsAttribute = { name: 'EnrichmentCreditsSettled', type: 'DOUBLE' } as const;

/** How a run stands, as its own workflow knows it: what its steps, and the updates that steer it, share. */
export class RunState {
  readonly runId: string;
  readonly batchConcurrency: number;
  readonly late: LateResults | undefined;
  phase: RunProgress['phase'] = 'ingesting';
  plan: PlanSummary | null = null;
  /** What the service says of the credential; null: the command that began the run asked. */
  service: string | null = null;
  /** Why it does not continue; null: it does. */
  pauseReason: PauseReason | null = null;
  approved: boolean;
  cancelling: string | undefined;
  priority: RunPriority;
  page: number;
  tally: BatchTally;
  isPilotPassed = false;
  /** Counts the words to continue: one that comes while a page is ending must not be lost. */
  resumes = 0;
  /** A budget was changed since this was last set to false. */
  budgetChanged = false;
  /** Pages that a person wants no more of, and those of them whose people have their outcome by now. */
  readonly skipping = new Set<number>();
  readonly skipped = new Set<number>();
  readonly #searchable: boolean;
  #openChild: string | undefined;
  #changes: Promise<void> = Promise.resolve();

  constructor(input: RunInput) {
    const { runId } = input;
    this.runId = runId;
    this.batchConcurrency = input.batchConcurrency;
    this.approved = input.approved;
    this.priority = input.priority;
    this.page = input.carried?.page ?? 0;
    this.tally = input.carried?.tally ?? nothing;
    this.#searchable = input.searchable;
    this.late =
      input.lateResults &&
      new LateResults({
        take: (summary) => long.settleLateResults.executeWithOptions({ summary }, [{ runId }]),
        onSync: () => this.show(),
        pollAfterMilliseconds: input.lateResults.pollAfterSeconds * 1_000,
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

  /** A person, or what befell it, keeps it from going on. */
  get isHeld(): boolean {
    return this.pauseReason !== null || this.isCancelling;
  }

  show(): void {
    setCurrentDetails(progressTable(this.progress));
  }

  enter(phase: RunProgress['phase']): void {
    this.phase = phase;
    if (this.#searchable) {
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

  /** Is paused until a person's word, or the end of the run. */
  async untilResumed(why: PauseReason): Promise<void> {
    this.pauseReason = why;
    this.enter('paused');
    await condition(() => this.pauseReason === null || this.isCancelling);
  }

  /** Ends with the page; its workflow's id is there as long as it is open. */
  async whileOpen<Result>(workflowId: string, page: () => Promise<Result>): Promise<Result> {
    this.#openChild = workflowId;
    try {
      return await page();
    } finally {
      this.#openChild = undefined;
    }
  }

  /** Lets the page that is open look again at what it waits for. */
  wakePage(): Promise<void> {
    return this.#tellPage((page) => page.signal(wakeSignal));
  }

  tellPagePriority(): Promise<void> {
    return this.#tellPage((page) => page.signal(pagePrioritySignal, this.priority));
  }

  /** Ends the page, if it is the one that is open: resolves when its calls have ended. */
  async endPage(page: number): Promise<void> {
    if (page !== this.page) return;
    const child = this.#openChild;
    await this.#tellPage((open) => open.signal(skipSignal));
    await condition(() => this.#openChild === undefined || this.#openChild !== child);
  }

  async #tellPage(
    tell: (page: ReturnType<typeof getExternalWorkflowHandle>) => Promise<void>,
  ): Promise<void> {
    if (this.#openChild === undefined) return;
    // The page may have ended meanwhile: then there is no workflow to signal.
    await tell(getExternalWorkflowHandle(this.#openChild)).catch(() => {});
  }
}
