import { fileURLToPath } from 'node:url';
import { Worker, bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { recordedHistories } from '../helpers/histories.ts';

/**
 * Runs that were begun by an older release go on under this one: every history that was recorded must replay. Where one
 * does not, the change needs `patched()`; recording the history anew would only hide it.
 */
const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const histories = recordedHistories();
let workflowBundle: WorkflowBundle;

beforeAll(async () => {
  workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
    logger: silent,
  });
});

describe('a history of an earlier release replays', () => {
  it('and there are such histories', () => expect(histories.length).toBeGreaterThan(10));

  it.each(histories)('$name', async ({ history }) => {
    await expect(Worker.runReplayHistory({ workflowBundle }, history, 'replayed')).resolves.toBeUndefined();
  });
});
