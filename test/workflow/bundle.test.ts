import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { expect, it } from 'vitest';

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

function bundle(path: string) {
  return bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL(path, import.meta.url)), logger: silent });
}

it('the workflows bundle, and stay small enough to be replayed quickly', async () => {
  const { code } = await bundle('../../workflows/index.ts');
  expect(code.length).toBeLessThan(3_000_000);
});

it('a workflow that imports what is not deterministic does not bundle', async () => {
  await expect(bundle('../fixtures/workflow-with-database.ts')).rejects.toThrow(
    'Webpack finished with errors',
  );
});
