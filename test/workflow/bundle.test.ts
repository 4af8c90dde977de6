import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bundleWorkflows, sharedWorkflowBundle } from '../helpers/temporal/workflow-bundle.ts';

it('the workflows bundle, and the bundle stays small enough to be replayed quickly', () => {
  expect(statSync(sharedWorkflowBundle().codePath).size).toBeLessThan(3_000_000);
});

it('a workflow that imports non-deterministic code does not bundle', async () => {
  await expect(bundleWorkflows('../../fixtures/workflow-with-database.ts')).rejects.toThrow(
    'Webpack finished with errors',
  );
});
