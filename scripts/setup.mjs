// Prepares a clone: dependencies, compiled code, Temporal dev server. Only missing steps run. The script needs only
// Node.js, because nothing is installed at its first run.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, isBuilt } from './build.mjs';
import { exclusively } from './exclusively.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quiet = process.argv.includes('--quiet');
const started = performance.now();
let busy = false;

/** Prints a step. With --quiet, only the message that nothing was missing is hidden. */
function say(text) {
  busy = true;
  console.error(`setup: ${text}`);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  stop(`Node ${process.versions.node} is too old`, 'install Node 20.19 or later (https://nodejs.org)');
}

// The folder of claims is not in node_modules, which npm empties.
await exclusively(
  join(root, 'dist', '.setup'),
  () => say('waiting for the set-up of another command'),
  async () => {
    installDependencies();
    let temporal;
    const isComplete = isBuilt() || (await build(say, () => (temporal = provideTemporal())));
    if (!isComplete) stop('the code does not compile', 'correct the errors above');
    await (temporal ?? provideTemporal());
  },
);
if (busy) say(`done in ${seconds(started)}`);
else if (!quiet) console.error(`setup: up to date (${seconds(started)})`);

/**
 * Installs dependencies unless they are complete: npm writes `.package-lock.json` last, so it is newer than
 * package-lock.json.
 */
function installDependencies() {
  const installed = modified('node_modules/.package-lock.json');
  if (installed >= modified('package-lock.json')) return;
  const begun = performance.now();
  say('installing dependencies (npm ci, about 250 MB; usually 20 to 60 s, without output)');
  // npm prints to standard error, because standard output belongs to the command that follows.
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0)
    stop('npm ci failed', 'read its message above; npm ci needs the npm registry or a full npm cache');
  say(`dependencies installed in ${seconds(begun)}`);
}

/** Gets the Temporal dev server, unless TEMPORAL_ADDRESS names another server. */
async function provideTemporal() {
  if (process.env.TEMPORAL_ADDRESS) return;
  const { readConfig } = await compiled('src/config/settings.js');
  const { ensureTemporalCli } = await compiled('src/dev/temporal-cli.js');
  try {
    await ensureTemporalCli(readConfig(process.env).embedded, say);
  } catch (error) {
    if (typeof error.explain !== 'function') throw error;
    console.error(`setup: ${error.explain()}`);
    process.exit(error.exitCode);
  }
}

function compiled(path) {
  return import(pathToFileURL(join(root, 'dist', path)).href);
}

function modified(path) {
  const file = join(root, path);
  return existsSync(file) ? statSync(file).mtimeMs : 0;
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

function stop(what, next) {
  console.error(`setup: ${what}\n  next:  ${next}`);
  process.exit(1);
}
