import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { pageWaitsSignal } from './messages.ts';

/** A shorter wait is over before a person looks, and Temporal bills each signal. */
const shownWaitMilliseconds = 60_000;

/** The wait of a page's batches for the rate window: one timer for all, which signals end. */
export class PageWait {
  /** A count, not a flag: a signal just before a batch waits must end that wait. */
  wakes = 0;
  /** What the page waits for; empty: nothing. */
  reason = '';
  /** Undefined: the page does not wait. */
  end: Promise<void> | undefined;
  readonly #onBegin: () => void;

  constructor(onBegin: () => void) {
    this.#onBegin = onBegin;
  }

  /** @param wakesBefore `wakes` when the call that must wait began */
  begin(wakesBefore: number, milliseconds: number, reason: string): void {
    if (this.wakes === wakesBefore) this.end ??= this.#untilWoken(wakesBefore, milliseconds, reason);
  }

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

async function tellRun(reason: string | null): Promise<void> {
  const { parent } = workflowInfo();
  // A run that has ended needs no news.
  if (parent)
    await getExternalWorkflowHandle(parent.workflowId)
      .signal(pageWaitsSignal, reason)
      .catch(() => {});
}
