import {
  allHandlersFinished,
  condition,
  currentUpdateInfo,
  makeContinueAsNewFunc,
  setCurrentDetails,
  workflowInfo,
  getExternalWorkflowHandle,
  sleep,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import type { UpdateRequest, PageResult } from '../src/contract/activities.ts';
import type { StatusReason } from '../src/contract/pause-reasons.ts';
import type { PlanSummary } from '../src/contract/plan-summary.ts';
import type { RunFacts, RunFactsSnapshot } from '../src/contract/run-facts.ts';
import type { RunEnding, RunInput, PageInput } from '../src/contract/run-input.ts';
import { isFinal, runStatuses, statusText, type RunStatus } from '../src/contract/run-transitions.ts';
import { longActivities, quickActivities } from './control-activities.ts';
import { LateResults } from './late-results.ts';
import { endPageSignal, wakeSignal } from './messages.ts';
import { RunAttributes, runDetails, runWaitOf, type RunProgress } from './run-details.ts';

/** True if Temporal suggests continue-as-new, long before it would terminate a workflow with a long history. */
export function isHistoryLong(): boolean {
  return workflowInfo().continueAsNewSuggested;
}

/**
 * True if new runs begin on another build than the build to which Worker Versioning pins this run. Workers without a
 * version and older servers never report this.
 */
function isBuildOutdated(): boolean {
  return workflowInfo().targetWorkerDeploymentVersionChanged;
}

/** True if a waiting run should begin a new execution, with an empty history and on the build of new runs. */
export function mustContinueAsNew(): boolean {
  return isHistoryLong() || isBuildOutdated();
}

/** Input of an activity, with the id of the update that caused it, so that a repeated update takes effect once. */
function activityInput(runId: string): UpdateRequest {
  const update = currentUpdateInfo();
  return { runId, ...(update && { updateId: update.id }) };
}

/**
 * State of a run in its workflow, which steps and updates share. The tables own the run's status and reason; the
 * workflow has the values that it last read or wrote.
 */
export class RunState {
  readonly input: RunInput;
  readonly late: LateResults | undefined;
  readonly pageWorkflow = new PageWorkflow();
  /** Facts of the run as last read from the tables. Null before the first read. */
  figures: RunFactsSnapshot | null;
  /** Status that the run returns to after a resume. */
  work: RunStatus;
  plan: PlanSummary | null;
  /** Result of the check of the credential. Null if the command that began the run has checked it. */
  service: string | null;
  page: number;
  isPilotPassed: boolean;
  /** How the run ends after its late results. Null until all calls are made. */
  ending: RunEnding | null;
  /** True while the run only waits for late results. */
  awaitsLateResults = false;
  /** True once no update can change how the run ends. */
  isEnding = false;
  /** Why the open page waits for its next call. Null if it does not wait. */
  pageWait: string | null = null;
  /** True if a budget was changed or the operator resumed the run, since the last check of the budgets. */
  budgetChanged = false;
  readonly #attributes = new RunAttributes();
  #lastInTables: Promise<unknown> = Promise.resolve();

  constructor(input: RunInput) {
    const { runId, carried } = input;
    this.input = input;
    this.figures = carried?.figures ?? null;
    this.work = carried ? 'running' : 'ingesting';
    this.plan = carried?.plan ?? null;
    this.service = carried?.service ?? null;
    this.page = carried?.page ?? 0;
    this.isPilotPassed = carried?.isPilotPassed ?? false;
    this.ending = carried?.ending ?? null;
    this.late =
      input.lateResults &&
      new LateResults({
        settle: (summary) => longActivities.syncLateResults.executeWithOptions({ summary }, [{ runId }]),
        onSync: () => this.show(),
        pollAfterMilliseconds: input.lateResults.pollAfterSeconds * 1_000,
        // The previous execution may have received a signal just before it ended.
        isDelivered: carried !== undefined,
      });
  }

  get runId(): string {
    return this.input.runId;
  }

  get status(): RunStatus {
    return this.figures?.facts.status ?? 'ingesting';
  }

  /** Reason of the pause. Null if the run is not paused. */
  get pauseReason(): StatusReason | null {
    if (this.figures?.facts.status !== 'paused') return null;
    const { reason_type: type, reason, next } = this.figures.facts;
    return { type: type ?? 'run.paused', reason: reason ?? '', next: next ?? '' };
  }

  /** True if the run makes no further calls. A command may have ended the run only in the tables. */
  get isCancelling(): boolean {
    return this.status === 'cancelling' || isFinal(this.status);
  }

  /** Answer to the query `progress`, and content of the run's page in the Temporal UI. */
  get progress(): RunProgress {
    const { runId, status, page, plan, service, figures, late } = this;
    return {
      runId,
      status,
      waitsFor: runWaitOf(this),
      page,
      pages: plan?.pages ?? 0,
      plan,
      service,
      figures,
      late: late?.status ?? null,
    };
  }

  /** Number of deliveries that took effect. */
  get arrived(): number {
    return this.late?.status.arrived ?? 0;
  }

  /** Writes the search attributes and the run's page in the Temporal UI. */
  show(): void {
    const { progress } = this;
    if (this.input.searchable) this.#attributes.write(progress);
    setCurrentDetails(runDetails(progress));
  }

  /** Shows why the open page waits. @param why null if the page continues or has ended */
  pageWaits(why: string | null): void {
    this.pageWait = why;
    this.show();
  }

  /**
   * Runs an activity that returns the run's facts from the tables. Activities run one after another, so that a
   * simultaneous pause and resume are written in order, and older facts never replace newer ones.
   */
  inTables(activity: () => Promise<RunFacts>): Promise<RunFacts> {
    const carryOut = async (): Promise<RunFacts> => {
      const facts = await activity();
      this.figures = { facts, readAt: new Date().toISOString() };
      this.show();
      return facts;
    };
    const done = this.#lastInTables.then(carryOut, carryOut);
    this.#lastInTables = done;
    return done;
  }

  readFigures(): Promise<RunFacts> {
    const summary = 'read the figures of the run';
    return this.inTables(() =>
      quickActivities.readRunFacts.executeWithOptions({ summary }, [{ runId: this.runId }]),
    );
  }

  /**
   * Writes the status. The tables refuse a status that contradicts the operator: without an approval, a run becomes
   * `awaiting_approval` instead of `running`.
   */
  setStatus(status: RunStatus, why?: StatusReason, by?: 'resume' | 'approval'): Promise<RunFacts> {
    const request = {
      ...activityInput(this.runId),
      status,
      ...(why && { pauseReason: why }),
      ...(by && { by }),
    };
    // Without an approval, the tables write `awaiting_approval` instead.
    const what =
      status === 'running' && by === undefined ? 'running, or awaiting approval' : statusText(status);
    const options = { summary: `set the status: ${what}` };
    return this.inTables(() => quickActivities.setRunStatus.executeWithOptions(options, [request]));
  }

  /** Waits until the operator approves, resumes or cancels the run, if its status needs this. */
  untilResumed(): Promise<void> {
    return this.waitUntil(() => runStatuses[this.status] !== 'waiting');
  }

  /**
   * Waits for a condition. If the history grows long or new runs begin on another build, the workflow continues as new,
   * and the new execution waits on.
   *
   * @param timer maximum wait
   */
  async waitUntil(
    isMet: () => boolean,
    timer?: { readonly milliseconds: number; readonly summary: string },
  ): Promise<void> {
    const isOver = (): boolean => isMet() || mustContinueAsNew();
    if (timer) await condition(isOver, timer.milliseconds, { summary: timer.summary });
    else await condition(isOver);
    if (!isMet() && mustContinueAsNew()) await this.continueAsNew();
  }

  /** Continues as new, with an empty history and on the build of new runs. */
  async continueAsNew(): Promise<never> {
    await this.late?.stop();
    await condition(allHandlersFinished);
    // Nothing below may await, because a signal or update that arrives in between would be lost.
    const { plan, service, page, figures, isPilotPassed, ending } = this;
    if (!plan) throw new Error('a run continues as new only once it has its plan');
    const options = isBuildOutdated() ? { initialVersioningBehavior: 'AUTO_UPGRADE' as const } : {};
    return makeContinueAsNewFunc<(input: RunInput) => Promise<RunFacts>>(options)({
      ...this.input,
      carried: { plan, service, page, figures, isPilotPassed, ending },
    });
  }
}

/** Pause between two signals to an orphaned page. Its calls in flight take at most a minute by default. */
const orphanMilliseconds = 5_000;

type Page = ChildWorkflowHandle<(input: PageInput) => Promise<PageResult>>;

/** The child workflow that enriches a page. The run signals changes to it, and has at most one at a time. */
class PageWorkflow {
  #open: Promise<Page> | undefined;

  /** Starts a page and waits for its result. @param mustEnd once true, the page is told to end */
  async untilEnded(start: () => Promise<Page>, mustEnd: () => boolean): Promise<PageResult> {
    const starting = start();
    this.#open = starting;
    const isOver = (): boolean => this.#open !== starting;
    void condition(() => isOver() || mustEnd()).then(() =>
      isOver() ? undefined : this.#tell((page) => page.signal(endPageSignal)),
    );
    try {
      const page = await starting;
      return await page.result();
    } catch (error) {
      // The SDK does not export this error class to workflows.
      const { name, workflowId } = error as { name?: string; workflowId?: string };
      if (name !== 'WorkflowExecutionAlreadyStartedError' || workflowId === undefined) throw error;
      await this.#endOrphan(workflowId, mustEnd);
      return { kind: 'unfinished' };
    } finally {
      this.#open = undefined;
    }
  }

  /**
   * Waits until an orphaned page has ended: resetting a run in the Temporal UI leaves its page open, and the next page
   * has the same id. If the run ended earlier, it would release people whose calls are in flight.
   */
  async #endOrphan(workflowId: string, mustStop: () => boolean): Promise<void> {
    const orphan = getExternalWorkflowHandle(workflowId);
    const takesSignal = (): Promise<boolean> =>
      orphan.signal(endPageSignal).then(
        () => true,
        () => false,
      );
    // Only an open workflow accepts a signal.
    while (!mustStop() && (await takesSignal()))
      await sleep(orphanMilliseconds, {
        summary: 'a page that was open before a reset records its last calls',
      });
  }

  /** Ends the page's wait for a slot, because the run was paused, cancelled or resumed. */
  wake(): Promise<void> {
    return this.#tell((page) => page.signal(wakeSignal));
  }

  /** Signals the open page, if there is one. */
  async #tell(tell: (page: Page) => Promise<void>): Promise<void> {
    // The page may have ended before the signal.
    await this.#open?.then(tell).catch(() => {});
  }
}
