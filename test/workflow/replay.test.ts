import { Worker, type WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { recordedHistories } from '../helpers/histories.ts';
import { bundleWorkflows } from '../helpers/workflow-bundle.ts';
import { workflowIsolate } from '../../src/temporal/workflow-isolate.ts';

/**
 * Runs that were begun by an older release go on under this one: every history that was recorded must replay. Where one
 * does not, the change needs `patched()`; recording the history anew would only hide it.
 */
const histories = recordedHistories();
let workflowBundle: WorkflowBundle;

beforeAll(async () => {
  workflowBundle = await bundleWorkflows();
});

describe('a history of an earlier release replays', () => {
  it('and there are such histories', () => expect(histories.length).toBeGreaterThan(10));

  it.each(histories)('$name', async ({ history }) => {
    await expect(
      Worker.runReplayHistory({ workflowBundle, ...workflowIsolate }, history, 'replayed'),
    ).resolves.toBeUndefined();
  });
});
