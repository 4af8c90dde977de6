import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sharedWorkflowBundle } from '../helpers/temporal/workflow-bundle.ts';

it('the workflows bundle, and the bundle stays small enough to be replayed quickly', () => {
  expect(statSync(sharedWorkflowBundle().codePath).size).toBeLessThan(3_000_000);
});

it('the workflow bundle has no zod, because workflows import only the types of the contract', () => {
  expect(readFileSync(sharedWorkflowBundle().codePath, 'utf8')).not.toContain('ZodType');
});
