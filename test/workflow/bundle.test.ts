import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sharedWorkflowBundle } from '../helpers/temporal/workflow-bundle.ts';

it('the workflows bundle, and the bundle stays small enough to be replayed quickly', () => {
  expect(statSync(sharedWorkflowBundle().codePath).size).toBeLessThan(3_000_000);
});
