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
import { long, quick } from './control-activities.ts';
import { LateResults } from './late-results.ts';
import { endPageSignal, wakeSignal } from './messages.ts';
import { RunAttributes, runDetails, waitOf, type RunProgress } from './run-details.ts';

/** Temporal suggests continue-as-new long before it terminates a workflow with a long history. */
export function isHistoryLong(): boolean {
  return workflowInfo().continueAsNewSuggested;
}

/**
 * Whether new runs begin on another build than the one to which Worker Versioning pins this run. Workers without a
 * version and older servers never say so.
 */
function isBuildOutdated(): boolean {
  return workflowInfo().targetWorkerDeploymentVersionChanged;
}

/** Whether a run that waits begins a new execution: with an empty history, and on the build of new runs. */
export function mustContinueAsNew(): boolean {
  return isHistoryLong() || isBuildOutdated();
}

/** The request of an update's handler, or of the workflow itself. */
function updateRequest(runId: string): UpdateRequest {
  const update = currentUpdateInfo();
  return { runId, ...(update && { updateId: update.id }) };
}

/**
 * The state of a run in its workflow, shared by steps and updates. Status and reason of the run are in the tables: the
 * workflow has only the values that it last read or wrote.
 */
export class RunState {
  readonly input: RunInput;
  readonly late: LateResults | undefined;
  readonly pageWorkflow = new PageWorkflow();
  /** The run as the tables have it, as last read; null: not read yet. */
  figures: RunFactsSnapshot | null;
  /** The status that the run returns to after a resume. */
  work: RunStatus;
  plan: PlanSummary | null;
  /** What the service says of the credential; null: the command that began the run asked. */
  service: string | null;
  page: number;
  isPilotPassed: boolean;
  /** Every call is made: how the run ends once its late results are there. */
  ending: RunEnding | null;
  /** The run waits for late results only. */
  awaitsLateResults = false;
  /** No update can change how the run ends. */
  isEnding = false;
  /** Why the open page waits until the next call may begin. */
  pageWait: string | null = null;
  /** A budget was changed, or a person resumed the run, since this was last set to false. */
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
        settle: (summary) => long.syncLateResults.executeWithOptions({ summary }, [{ runId }]),
        onSync: () => this.show(),
        pollAfterMilliseconds: input.lateResults.pollAfterSeconds * 1_000,
        // The earlier execution may have received a signal just before it ended.
        isDelivered: carried !== undefined,
      });
  }

  get runId(): string {
    return this.input.runId;
  }

  get status(): RunStatus {
    return this.figures?.facts.status ?? 'ingesting';
  }

  /** Why the run is paused; null: it is not. */
  get pauseReason(): StatusReason | null {
    if (this.figures?.facts.status !== 'paused') return null;
    const { reason_type: type, reason, next } = this.figures.facts;
    return { type: type ?? 'run.paused', reason: reason ?? '', next: next ?? '' };
  }

  /** True if the run makes no further calls. A command may have ended the run in the tables only. */
  get isCancelling(): boolean {
    return this.status === 'cancelling' || isFinal(this.status);
  }

  get progress(): RunProgress {
    const { runId, status, page, plan, service, figures, late } = this;
    return {
      runId,
      status,
      waitsFor: waitOf(this),
      page,
      pages: plan?.pages ?? 0,
      plan,
      service,
      figures,
      late: late?.status ?? null,
    };
  }

  get arrived(): number {
    return this.late?.status.arrived ?? 0;
  }

  show(): void {
    const { progress } = this;
    if (this.input.searchable) this.#attributes.write(progress);
    setCurrentDetails(runDetails(progress));
  }

  /** @param why null: the page continues, or has ended */
  pageWaits(why: string | null): void {
    this.pageWait = why;
    this.show();
  }

  /**
   * Carries out an activity that returns the run as the tables have it then. One activity after another, in the order
   * of the calls: a pause and a resume at the same time are written in this order, and no older answer replaces a newer
   * one.
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
    return this.inTables(() => quick.readRunFacts.executeWithOptions({ summary }, [{ runId: this.runId }]));
  }

  /**
   * Writes the status. The tables refuse a status that a decision of a person does not allow: a run without an approval
   * does not become `running`, it awaits the approval.
   */
  setStatus(status: RunStatus, why?: StatusReason, by?: 'resume' | 'approval'): Promise<RunFacts> {
    const request = {
      ...updateRequest(this.runId),
      status,
      ...(why && { pauseReason: why }),
      ...(by && { by }),
    };
    // The tables let a run without an approval await it instead.
    const what =
      status === 'running' && by === undefined ? 'running, or awaiting approval' : statusText(status);
    const options = { summary: `set the status: ${what}` };
    return this.inTables(() => quick.setRunStatus.executeWithOptions(options, [request]));
  }

  /** Waits until a person approves, resumes or cancels the run, if the run waits for that. */
  untilResumed(): Promise<void> {
    return this.waitUntil(() => runStatuses[this.status] !== 'waiting');
  }

  /**
   * Waits for a condition. If the history grows long meanwhile, or new runs begin on another build, the workflow
   * continues as new and waits on.
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

  /** Continues as new, with an empty history, and on the build of new runs. */
  async continueAsNew(): Promise<never> {
    await this.late?.stop();
    await condition(allHandlersFinished);
    // No await below: a signal or an update in between would be lost.
    const { plan, service, page, figures, isPilotPassed, ending } = this;
    if (!plan) throw new Error('a run continues as new only once it has its plan');
    const options = isBuildOutdated() ? { initialVersioningBehavior: 'AUTO_UPGRADE' as const } : {};
    return makeContinueAsNewFunc<(input: RunInput) => Promise<RunFacts>>(options)({
      ...this.input,
      carried: { plan, service, page, figures, isPilotPassed, ending },
    });
  }
}

/** Time between looks while an orphaned page ends: its calls in flight take a minute at most by default. */
const orphanMilliseconds = 5_000;

type Page = ChildWorkflowHandle<(input: PageInput) => Promise<PageResult>>;

/** The child workflow that enriches a page, as its run tells it what changes. A run has at most one at a time. */
class PageWorkflow {
  #open: Promise<Page> | undefined;

  /** Starts a page and waits for its result. @param mustEnd true asks the page to end */
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
      // The SDK does not export the class to workflows.
      const { name, workflowId } = error as { name?: string; workflowId?: string };
      if (name !== 'WorkflowExecutionAlreadyStartedError' || workflowId === undefined) throw error;
      await this.#endOrphan(workflowId, mustEnd);
      return { kind: 'unfinished' };
    } finally {
      this.#open = undefined;
    }
  }

  /**
   * Waits until an orphaned page has ended. A reset of the run in the Temporal UI leaves its page open, and the next
   * page has the same id. A run that ended earlier would release the claims of people in calls in flight.
   */
  async #endOrphan(workflowId: string, mustStop: () => boolean): Promise<void> {
    const orphan = getExternalWorkflowHandle(workflowId);
    const takesSignal = (): Promise<boolean> =>
      orphan.signal(endPageSignal).then(
        () => true,
        () => false,
      );
    // Only an open workflow takes a signal.
    while (!mustStop() && (await takesSignal()))
      await sleep(orphanMilliseconds, {
        summary: 'a page that was open before a reset records its last calls',
      });
  }

  wake(): Promise<void> {
    return this.#tell((page) => page.signal(wakeSignal));
  }

  async #tell(tell: (page: Page) => Promise<void>): Promise<void> {
    // The page may have ended meanwhile.
    await this.#open?.then(tell).catch(() => {});
  }
}
