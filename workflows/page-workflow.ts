import { condition, getExternalWorkflowHandle, sleep, type ChildWorkflowHandle } from '@temporalio/workflow';
import type { PageResult } from '../src/contract/activities.ts';
import type { PageInput } from '../src/contract/run-input.ts';
import { endPageSignal, wakeSignal } from './messages.ts';

/** Time between looks while an orphaned page ends: its calls in flight take a minute at most by default. */
const orphanMilliseconds = 5_000;

type Page = ChildWorkflowHandle<(input: PageInput) => Promise<PageResult>>;

/** The child workflow that enriches a page, as its run tells it what changes. A run has at most one at a time. */
export class PageWorkflow {
  #open: Promise<Page> | undefined;

  /**
   * Starts a page and waits for its result.
   *
   * @param mustEnd true asks the page to end
   */
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
   * Waits until an orphaned page has ended. A reset of the run in the Temporal UI leaves its page open, and the page
   * has the id of the next one. A run that ended earlier would release the claims of people whose calls are in flight.
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

  /** Ends its wait for the rate window. */
  wake(): Promise<void> {
    return this.#tell((page) => page.signal(wakeSignal));
  }

  async #tell(tell: (page: Page) => Promise<void>): Promise<void> {
    // The page may have ended meanwhile.
    await this.#open?.then(tell).catch(() => {});
  }
}
