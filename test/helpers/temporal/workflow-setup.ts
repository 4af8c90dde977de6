import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleWorkflows } from './workflow-bundle.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** File with the bundle of the product's workflows. */
    workflowBundlePath: string;
  }
}

/** One bundle for all workflow tests: Webpack takes longer than most of them. */
export default async function setup(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'enrich-workflows-'));
  const { code } = await bundleWorkflows();
  const path = join(directory, 'workflow-bundle.js');
  writeFileSync(path, code);
  project.provide('workflowBundlePath', path);
  return () => rmSync(directory, { recursive: true, force: true });
}
