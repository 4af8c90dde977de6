import {
  condition,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  callTaskQueues,
  controlTaskQueue,
  taskPriorities,
  type CallActivities,
  type ControlActivities,
  type PageInput,
  type PageResult,
} from '../src/contract.ts';
import { pagePrioritySignal, skipSignal, wakeSignal } from './messages.ts';
import { add, nothing } from './tally.ts';

const { openPage } = proxyActivities<ControlActivities>({
  taskQueue: controlTaskQueue,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { maximumInterval: '30 seconds' },
});

const { enrichBatch } = proxyActivities<CallActivities>({
  // Above the longest wait in the queue and the longest call, several times over where a batch has to be halved.
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

/**
 * About a thousand people of a run: one activity per bulk call, `batchConcurrency` of them at a time. Ends early where
 * nothing may be sent any more, and where its history grows long: a backfill that lets others go first for a day would
 * come to the end of what Temporal keeps. Run again, it takes up what is still open.
 */
export async function enrichmentPage(input: PageInput): Promise<PageResult> {
  let woken = false;
  setHandler(wakeSignal, () => void (woken = true), {
    description:
      'Look again at what this page waits for: sent by its run after a pause, a cancellation or a resume.',
  });

  let { priority } = input;
  setHandler(pagePrioritySignal, (next) => void (priority = next), {
    description: 'Whose calls go first, for the batches that begin from now on: sent by the run.',
  });
  let skipped = false;
  setHandler(
    skipSignal,
    () => {
      skipped = true;
      woken = true;
    },
    { description: 'Begin no further batch, and end: sent by the run, which then skips the page.' },
  );

  const { runId, page } = input;
  const opened = await openPage.executeWithOptions({ summary: `claim the people of page ${page}` }, [
    { runId, page },
  ]);
  const waiting = [...opened.batches];
  const total = waiting.length;
  let tally = nothing;
  let ended: PageResult | undefined;
  let gate: Promise<unknown> | undefined;
  let reason = '';

  const show = (): void =>
    setCurrentDetails(
      [
        `| page ${page} | |`,
        '|---|---|',
        `| people | ${opened.people} |`,
        `| batches done | ${total - waiting.length} of ${total} |`,
        `| calls | ${tally.calls} |`,
        `| enriched | ${tally.enriched} |`,
        `| not found | ${tally.notFound} |`,
        `| credits settled | ${tally.creditsSettled} |`,
        ...(reason === '' ? [] : [`| waiting | ${reason} |`]),
      ].join('\n'),
    );

  const wait = async (milliseconds: number, why: string): Promise<void> => {
    woken = false;
    reason = why;
    show();
    await condition(() => woken, milliseconds, { summary: why.slice(0, 180) });
    reason = '';
    gate = undefined;
  };

  const isLong = (): boolean =>
    waiting.length > 0 && workflowInfo().continueAsNewSuggested && patched('a-long-page-ends');
  let historyLimitReached = false;
  const runBatches = async (): Promise<void> => {
    for (;;) {
      if (gate) await gate;
      historyLimitReached ||= isLong();
      const batch = ended || skipped || historyLimitReached ? undefined : waiting.shift();
      if (batch === undefined) return;
      const result = await enrichBatch.executeWithOptions(
        {
          summary: `batch ${batch}`,
          taskQueue: callTaskQueues[priority],
          priority: { priorityKey: taskPriorities[priority] },
        },
        [{ runId, page, batch }],
      );
      tally = add(tally, result.tally);
      if (result.kind === 'wait') {
        waiting.unshift(batch);
        // One timer for all batches: the first batch that meets the full window sets it.
        gate ??= wait(result.milliseconds, result.reason);
      } else if (result.kind !== 'done') {
        ended ??= { ...result, tally };
      }
      show();
    }
  };

  show();
  await Promise.all(Array.from({ length: Math.min(input.batchConcurrency, total) }, runBatches));
  return {
    ...(ended ?? { kind: skipped ? 'skipped' : historyLimitReached ? 'history_limit' : 'done' }),
    tally,
  };
}
