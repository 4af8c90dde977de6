import { readFileSync, statSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { recordedHistories } from '../helpers/temporal/histories.ts';
import { sharedWorkflowBundle } from '../helpers/temporal/workflow-bundle.ts';
import { workflowIsolate } from '../../src/temporal/worker-options.ts';

/**
 * Runs that an older release began continue under this release, so every recorded history must replay. If one does not,
 * the change needs `patched()`; a new recording would only hide the fault.
 */
const histories = recordedHistories();

it('histories of earlier releases exist', () => expect(histories.length).toBeGreaterThan(10));

// One worker replays all histories, because a worker for each history takes several times longer.
it('the current workflows replay every recorded history of an earlier release', async () => {
  const failures: string[] = [];
  const results = Worker.runReplayHistories(
    { workflowBundle: sharedWorkflowBundle(), ...workflowIsolate },
    histories.map(({ name, history }) => ({ workflowId: name, history })),
  );
  for await (const { workflowId, error } of results)
    if (error) failures.push(`${workflowId}: ${error.message}`);
  expect(failures).toEqual([]);
});

// A Temporal server shows the current names of search attributes in old histories, too.
it('a history replays after the search attributes of runs were renamed in the Temporal namespace', async () => {
  const { name, history } = histories.find((each) => each.name.startsWith('0.1.0.run.a-run-asks'))!;
  const started = history.events![0]!.workflowExecutionStartedEventAttributes!;
  const metadata = { encoding: Buffer.from('json/plain'), type: Buffer.from('Keyword') };
  started.searchAttributes = {
    indexedFields: { EnrichmentStatus: { metadata, data: Buffer.from('"ingesting"') } },
  };
  const options = { workflowBundle: sharedWorkflowBundle(), ...workflowIsolate };
  await expect(Worker.runReplayHistory(options, history, name)).resolves.toBeUndefined();
});

it('the workflow bundle is smaller than 3 MB, so that workers load it quickly', () => {
  expect(statSync(sharedWorkflowBundle().codePath).size).toBeLessThan(3_000_000);
});

it('the workflow bundle has no zod, because workflows import only the types of the contract', () => {
  expect(readFileSync(sharedWorkflowBundle().codePath, 'utf8')).not.toContain('ZodType');
});
