// Compiles the code into dist, and bundles the workflows (for workers) and the command line.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommandLine } from './bundle-command-line.mjs';
import { exclusively } from './exclusively.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const sources = ['src', 'workflows', 'activities', 'test'];

/** Returns true if dist is up to date with the sources. */
export function isBuilt() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();
}

/**
 * Builds dist. Types are not checked, because that takes six times as long (`npm run check` does it).
 *
 * @param {(text: string) => void} say prints progress
 * @param {() => Promise<unknown>} beside work that runs beside the bundling and needs the compiled files
 * @returns {Promise<boolean>} false after compiler errors, which the compiler has printed
 */
export async function build(say, beside = async () => undefined) {
  let complete = true;
  await exclusively(
    join(dist, '.claims'),
    () => say('Waiting for the build of another command'),
    async () => {
      if (isBuilt()) return;
      const before = fingerprint();
      say('Compiling');
      complete = compile();
      if (!complete) return;
      copySql();
      await Promise.all([bundleCommandLine(dist), bundleWorkflows(say), beside()]);
      chmodSync(join(dist, 'cli', 'main.js'), 0o755);
      writeFileSync(stamp, before);
    },
  );
  return complete;
}

function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return (
    spawnSync(process.execPath, [compiler, '-p', root, '--noCheck'], { cwd: root, stdio: ['ignore', 2, 2] })
      .status === 0
  );
}

/** Copies SQL files twice: bundled and compiled code look for them at different paths relative to their own. */
function copySql() {
  for (const folder of ['sql', 'src/db/sql'])
    cpSync(join(root, 'src', 'db', 'sql'), join(dist, folder), { recursive: true });
}

async function bundleWorkflows(say) {
  const workflowsPath = join(dist, 'workflows', 'index.js');
  if (!existsSync(workflowsPath)) {
    say('No workflows/index.ts: no workflow bundle');
    return;
  }
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  // The failure converter must be in the bundle, so workers that encrypt need a bundle of their own.
  const failureConverterPath = join(dist, 'workflows', 'encoded-failures.js');
  for (const [name, options] of [
    ['workflow-bundle.js', {}],
    ['workflow-bundle-encrypting.js', { failureConverterPath }],
  ]) {
    const logger = new DefaultLogger('WARN');
    const { code } = await bundleWorkflowCode({ workflowsPath, logger, ...options });
    // The file is renamed when it is complete, so that a starting worker never reads a part of it.
    const file = join(dist, name);
    writeFileSync(`${file}.tmp`, code);
    renameSync(`${file}.tmp`, file);
  }
}

function fingerprint() {
  const files = [
    'tsconfig.json',
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/bundle-command-line.mjs',
  ];
  for (const folder of sources) {
    // The container image has no folder of tests.
    if (!existsSync(join(root, folder))) continue;
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && /\.(?:ts|json|sql)$/.test(entry.name))
        files.push(join(relative(root, entry.parentPath), entry.name));
    }
  }
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const { mtimeMs, size } = statSync(join(root, file));
    hash.update(`${file.split(sep).join('/')} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dist, { recursive: true });
  const started = performance.now();
  if (isBuilt()) console.error('dist is up to date');
  else if (await build((text) => console.error(text))) {
    console.error(`Built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  } else {
    console.error('The build failed: correct the errors above, then run npm run build again');
    process.exitCode = 1;
  }
}
