import type { BatchesRequest, BatchesResult, BatchResult } from '../../contract/activities.ts';
import type { AttemptDependencies } from '../attempt-call.ts';
import { enrichBatch } from './enrich-batch.ts';
import { openBatches } from './open-batches.ts';

/**
 * Enriches several batches in one activity, at the same time: an activity of its own for each call cost half as much
 * processor time as recording the answer. The batches are opened together. The call queue orders and limits their
 * calls.
 *
 * @param options.onDone is told how many batches are done
 * @throws what a batch throws, after the other batches have ended
 */
export async function enrichBatches(
  dependencies: AttemptDependencies,
  { runId, page, batches }: BatchesRequest,
  { signal, onDone }: { readonly signal: AbortSignal; readonly onDone: (batches: number) => void },
): Promise<BatchesResult> {
  let done = 0;
  const opened = await openBatches(dependencies, runId, batches);
  const ended = await Promise.allSettled(
    opened.map(async (open) => {
      const { batch } = open;
      const result = await enrichBatch(
        { ...dependencies, log: dependencies.log.child({ runId, page, batch }) },
        open,
        // A signal for each batch: Node warns of more than ten listeners of one signal.
        AbortSignal.any([signal]),
      );
      if (result.kind === 'done') onDone((done += 1));
      return { batch, result };
    }),
  );
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
  return resultOf(ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
}

/** Kinds of results, weakest first. The strongest of all batches decides about the page; of waits, the shortest. */
const kinds = ['done', 'wait', 'over_budget', 'stopped'] as const;

export function resultOf(
  results: readonly { readonly batch: number; readonly result: BatchResult }[],
): BatchesResult {
  const strongest = results
    .map(({ result }) => result)
    .reduce((one, other) => {
      if (one.kind === 'wait' && other.kind === 'wait')
        return other.milliseconds < one.milliseconds ? other : one;
      return kinds.indexOf(other.kind) > kinds.indexOf(one.kind) ? other : one;
    });
  return {
    ...strongest,
    calls: results.reduce((sum, { result }) => sum + result.calls, 0),
    left: results.flatMap(({ batch, result }) => (result.kind === 'done' ? [] : [batch])),
  };
}
