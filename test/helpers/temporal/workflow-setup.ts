import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** File with the bundle of the product's workflows. */
    workflowBundlePath: string;
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const built = join(root, 'dist', 'workflow-bundle.js');

/** Provides one bundle to all workflow tests: the bundle of the build, or a new one if the sources are newer. */
export default async function setup(project: TestProject): Promise<(() => void) | undefined> {
  if (isBuilt()) {
    project.provide('workflowBundlePath', built);
    return undefined;
  }
  // The module is loaded only if needed, because Temporal's bundler takes seconds to load.
  const { bundleWorkflows } = await import('./workflow-bundle.ts');
  const { code } = await bundleWorkflows();
  const directory = mkdtempSync(join(tmpdir(), 'enrich-workflows-'));
  const path = join(directory, 'workflow-bundle.js');
  writeFileSync(path, code);
  project.provide('workflowBundlePath', path);
  return () => rmSync(directory, { recursive: true, force: true });
}

/** True if the bundle of the build is newer than all files and folders that the bundle can contain. */
function isBuilt(): boolean {
  if (!existsSync(built)) return false;
  const sources = ['workflows', 'src'].flatMap((folder) => [
    folder,
    ...readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  ]);
  const newest = Math.max(
    ...['package-lock.json', ...sources].map((name) => statSync(join(root, name)).mtimeMs),
  );
  return newest < statSync(built).mtimeMs;
}
