import { proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { CallActivities, PageResult } from '../src/contract/activities.ts';
import type { PageInput } from '../src/contract/run-input.ts';
import { taskPriorities } from '../src/contract/run-priorities.ts';
import { callTaskQueues } from '../src/contract/temporal-names.ts';
import { markdownTable } from '../src/domain/runs/run-start.ts';
import { quick } from './control-activities.ts';
import { endPageSignal, pagePrioritySignal, wakeSignal } from './messages.ts';
import { PageWait } from './page-wait.ts';

const { enrichBatches } = proxyActivities<CallActivities>({
  // Longer than several waits in the queue and several calls, which a halved batch needs.
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

/** Temporal bills each activity. */
const batchesPerActivity = 10;
/** An activity runs on one worker: the batches that run at the same time are spread over so many activities. */
const sharingWorkers = 3;

/**
 * Enriches about a thousand people of a run: `batchConcurrency` batches at the same time, several in one activity.
 *
 * Ends early if nothing may be sent, if its run asks for it, or if its history grows long: a backfill that is preempted
 * for a day would reach Temporal's limit. Run again, it continues with the open people.
 */
export async function enrichmentPage(input: PageInput): Promise<PageResult> {
  const wait = new PageWait(() => show());
  setHandler(wakeSignal, () => void (wait.wakes += 1), {
    description: 'End a wait for the rate window: sent by the run after a pause, a cancellation or a resume.',
  });
  let { priority } = input;
  setHandler(pagePrioritySignal, (next) => void (priority = next), {
    description: 'The priority of batches that begin from now on: sent by the run.',
  });
  let isEndAsked = false;
  setHandler(
    endPageSignal,
    () => {
      isEndAsked = true;
      wait.wakes += 1;
    },
    {
      description:
        'Begin no further batch, and end: sent by the run, which skips the page or opens it again.',
    },
  );

  const { runId, page } = input;
  const perActivity = Math.min(Math.ceil(input.batchConcurrency / sharingWorkers), batchesPerActivity);
  const opened = await quick.openPage.executeWithOptions({ summary: `claim the people of page ${page}` }, [
    { runId, page },
  ]);
  const waiting = [...opened.batches];
  const total = waiting.length;
  let calls = 0;
  let done = 0;
  let ended: PageResult | undefined;

  const show = (): void =>
    setCurrentDetails(
      markdownTable([
        ['run', `\`${runId}\`: its page has the figures`],
        ['people left when it was opened', opened.people],
        ['batches done since', `${done} of ${total}`],
        ...(wait.reason === '' ? [] : [['**waits for**', wait.reason]]),
      ]),
    );

  let isUnfinished = false;
  const takeBatches = async (): Promise<void> => {
    for (;;) {
      if (wait.end) await wait.end;
      isUnfinished ||= isEndAsked || (waiting.length > 0 && workflowInfo().continueAsNewSuggested);
      const batches = ended || isUnfinished ? [] : waiting.splice(0, perActivity);
      if (batches.length === 0) return;
      const wakesBefore = wait.wakes;
      const result = await enrichBatches.executeWithOptions(
        {
          summary:
            batches.length === 1 ? `batch ${batches[0]}` : `batches ${batches[0]} to ${batches.at(-1)}`,
          taskQueue: callTaskQueues[priority],
          priority: { priorityKey: taskPriorities[priority] },
        },
        [{ runId, page, batches }],
      );
      calls += result.calls;
      done += batches.length - result.left.length;
      if (result.kind === 'wait') {
        waiting.unshift(...result.left);
        wait.begin(wakesBefore, result.milliseconds, result.reason);
      } else if (result.kind !== 'done') {
        const { left: _, ...ending } = result;
        ended ??= { ...ending, calls };
      }
      show();
    }
  };

  show();
  const activities = Math.ceil(Math.min(input.batchConcurrency, total) / perActivity);
  await Promise.all(Array.from({ length: activities }, takeBatches));
  return { ...(ended ?? { kind: isUnfinished ? 'unfinished' : 'done' }), calls };
}
