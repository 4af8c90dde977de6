import { expect, it } from 'vitest';
import { combineBatchResults } from '../../../src/calls/batches/enrich-batch.ts';
import type { BatchResult } from '../../../src/contract/activities.ts';

const done: BatchResult = { kind: 'done' };
const wait = (milliseconds: number): BatchResult => ({
  kind: 'wait',
  milliseconds,
  reason: 'the window is full',
});
const stopped: BatchResult = {
  kind: 'stopped',
  pauseReason: { type: 'service.unauthorized', reason: 'the key is refused', next: 'enrich resume RUN' },
};

it.each<[string, BatchResult[], object]>([
  ['is done if every batch is done', [done, done], { kind: 'done', left: [] }],
  [
    'waits as long as the batch with the shortest wait',
    [wait(9_000), done, wait(500)],
    { ...wait(500), left: [1, 3] },
  ],
  ['is stopped if one batch is stopped', [wait(1), stopped, done], { ...stopped, left: [1, 2] }],
])('the combined result of several batches %s', (_, results, expected) => {
  expect(combineBatchResults(results.map((result, index) => ({ batch: index + 1, result })))).toEqual(
    expected,
  );
});
