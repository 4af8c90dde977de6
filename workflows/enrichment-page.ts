import {
  setCurrentDetails,
  setHandler,
  workflowInfo,
  condition,
  getExternalWorkflowHandle,
} from '@temporalio/workflow';
import type { CallActivities, PageResult } from '../src/contract/activities.ts';
import type { PageInput } from '../src/contract/run-input.ts';
import { taskPriorities, callTaskQueues } from '../src/contract/temporal-names.ts';
import { markdownTable } from '../src/contract/workflow-details.ts';
import { beatingActivities, quickActivities, useHeartbeatOf } from './control-activities.ts';
import { endPageSignal, wakeSignal, pageWaitsSignal } from './messages.ts';

const calls = beatingActivities<CallActivities>({
  // An activity can wait several times for a slot, and a halved batch needs several calls.
  startToCloseTimeout: '30 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

/** Maximum batches of one activity. Temporal bills each activity, so an activity has several batches. */
const batchesPerActivity = 20;
/** Number of activities over which simultaneous batches are spread, because an activity runs on one worker. */
const sharingWorkers = 3;

/**
 * Enriches about a thousand people of a run, with `batchConcurrency` batches at a time, several in one activity. It
 * ends early if no call is allowed, its run tells it to, or its history grows long, as for a preempted backfill. Its
 * run then opens the page again for the remaining people.
 */
export async function enrichmentPage(input: PageInput): Promise<PageResult> {
  useHeartbeatOf(input);
  return new PageInProgress(input).run();
}

const resultTexts: Readonly<Record<PageResult['kind'], string>> = {
  done: 'every person of the page was asked for',
  unfinished: 'ended before its last batch: its run opens the page again',
  over_budget: 'ended before its last batch, because a budget is empty',
  stopped: 'ended before its last batch, because its run was paused or cancelled',
};

/** State of a page: batches that wait for a call, batches done, and the first result that ends the page. */
class PageInProgress {
  readonly #input: PageInput;
  readonly #wait = new PageWait(() => this.#show());
  #isEndAsked = false;
  #waiting: number[] = [];
  #people = 0;
  #total = 0;
  #done = 0;
  /** The first result of a batch that forbids further calls. */
  #ended: PageResult | undefined;
  #isUnfinished = false;

  constructor(input: PageInput) {
    this.#input = input;
    setHandler(wakeSignal, () => void (this.#wait.wakes += 1), {
      description:
        'End a wait for the rate window: sent by the run after a pause, a cancellation or a resume.',
    });
    setHandler(endPageSignal, () => this.#askForEnd(), {
      description: 'Begin no further batch, and end: sent by the run, which opens the page again.',
    });
  }

  async run(): Promise<PageResult> {
    const { runId, page, batchConcurrency } = this.#input;
    const perActivity = Math.min(Math.ceil(batchConcurrency / sharingWorkers), batchesPerActivity);
    const { batches, people } = await quickActivities.openPage.executeWithOptions(
      { summary: `claim the people of page ${page}` },
      [{ runId, page }],
    );
    this.#waiting = [...batches];
    this.#people = people;
    this.#total = batches.length;
    this.#show();
    const activities = Math.ceil(Math.min(batchConcurrency, this.#total) / perActivity);
    await Promise.all(Array.from({ length: activities }, () => this.#enrichInTurn(perActivity)));
    const result = this.#ended ?? { kind: this.#isUnfinished ? 'unfinished' : 'done' };
    this.#show(result.kind);
    return result;
  }

  /** Lets no further batch begin, and ends a wait. */
  #askForEnd(): void {
    this.#isEndAsked = true;
    this.#wait.wakes += 1;
  }

  /** Runs one activity after another, until no batch is left or the page ends. */
  async #enrichInTurn(perActivity: number): Promise<void> {
    for (;;) {
      if (this.#wait.end) await this.#wait.end;
      this.#isUnfinished ||=
        this.#isEndAsked || (this.#waiting.length > 0 && workflowInfo().continueAsNewSuggested);
      const batches = this.#ended || this.#isUnfinished ? [] : this.#waiting.splice(0, perActivity);
      if (batches.length === 0) return;
      await this.#enrich(batches);
      this.#show();
    }
  }

  /** Runs one activity with several batches. Batches that must wait return to the front. */
  async #enrich(batches: readonly number[]): Promise<void> {
    const { runId, page, priority } = this.#input;
    const wakesBefore = this.#wait.wakes;
    const summary =
      batches.length === 1 ? `batch ${batches[0]}` : `batches ${batches[0]} to ${batches.at(-1)}`;
    const { left, ...result } = await calls.enrichBatches.executeWithOptions(
      {
        summary,
        taskQueue: callTaskQueues[priority],
        priority: { priorityKey: taskPriorities[priority] },
      },
      [{ runId, page, batches }],
    );
    this.#done += batches.length - left.length;
    if (result.kind === 'wait') {
      this.#waiting.unshift(...left);
      this.#wait.begin(wakesBefore, result.milliseconds, result.reason);
    } else if (result.kind !== 'done') {
      this.#ended ??= result;
    }
  }

  /**
   * Shows the page in the Temporal UI. The text says how the page ended, because Temporal shows "Completed" even if the
   * page ended before its last batch.
   *
   * @param result undefined while the page runs
   */
  #show(result?: PageResult['kind']): void {
    const { reason } = this.#wait;
    setCurrentDetails(
      markdownTable([
        ['run', `\`${this.#input.runId}\`: its page has the figures`],
        ['people left when it was opened', this.#people],
        ['batches done since', `${this.#done} of ${this.#total}`],
        ...(reason === '' ? [] : [['**why it waits**', reason] as const]),
        ...(result === undefined ? [] : [['**result**', resultTexts[result]] as const]),
      ]),
    );
  }
}

/**
 * Shortest wait that a page tells its run. A shorter one ends before the operator looks, and Temporal bills each
 * signal.
 */
const shownWaitMilliseconds = 60_000;

/** The wait of a page's batches for their rate window. All batches share one timer, which signals end. */
class PageWait {
  /** Number of wake signals. A flag is not enough: a signal just before a batch waits must end this wait. */
  wakes = 0;
  /** Reason of the wait. Empty if the page does not wait. */
  reason = '';
  /** Resolves when the wait ends. Undefined if the page does not wait. */
  end: Promise<void> | undefined;
  readonly #onBegin: () => void;

  constructor(onBegin: () => void) {
    this.#onBegin = onBegin;
  }

  /** Begins a wait. @param wakesBefore value of `wakes` before the call that must wait */
  begin(wakesBefore: number, milliseconds: number, reason: string): void {
    if (this.wakes === wakesBefore) this.end ??= this.#untilWoken(wakesBefore, milliseconds, reason);
  }

  /** Waits for the time or a signal. The run is told about waits of a minute or more. */
  async #untilWoken(wakesBefore: number, milliseconds: number, reason: string): Promise<void> {
    this.reason = reason;
    this.#onBegin();
    const isShown = milliseconds >= shownWaitMilliseconds;
    if (isShown) await tellRun(reason);
    await condition(() => this.wakes !== wakesBefore, milliseconds, { summary: reason.slice(0, 180) });
    if (isShown) await tellRun(null);
    this.reason = '';
    this.end = undefined;
  }
}

/** Signals the run why its page waits; null: it continues. */
async function tellRun(reason: string | null): Promise<void> {
  const { parent } = workflowInfo();
  // The signal fails if the run has ended. The failure does no harm.
  if (parent)
    await getExternalWorkflowHandle(parent.workflowId)
      .signal(pageWaitsSignal, reason)
      .catch(() => {});
}
