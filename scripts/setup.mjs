// Makes a clone ready to run: dependencies, compiled code, Temporal dev server. Does only what is missing, and runs on
// bare Node: nothing is installed yet when it is first called.
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

/** Work is always told; that there is none, only where it is not quiet. */
function say(text) {
  busy = true;
  console.error(`setup: ${text}`);
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  stop(`Node ${process.versions.node} is too old`, 'install Node 20.19 or later (https://nodejs.org)');
}

// Outside node_modules, which npm empties.
await exclusively(
  join(root, 'dist', '.setup'),
  () => say('another command is setting up: waiting for it'),
  async () => {
    installDependencies();
    if (!isBuilt() && !(await build(say))) stop('the code does not compile', 'correct the errors above');
    await provideTemporal();
  },
);
if (busy) say(`done in ${seconds(started)}`);
else if (!quiet) console.error(`setup: everything is in place (${seconds(started)})`);

/** npm writes `.package-lock.json` last, so one that is newer than what it was made from means a complete install. */
function installDependencies() {
  const installed = modified('node_modules/.package-lock.json');
  if (installed >= modified('package-lock.json')) return;
  const begun = performance.now();
  say('installing dependencies (npm ci, about 250 MB)');
  // npm's own words go to standard error: standard output belongs to the command that comes next.
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0)
    stop('npm ci failed', 'read its message above; it needs the npm registry or a full npm cache');
  say(`dependencies installed in ${seconds(begun)}`);
}

/** Where a Temporal server is set, no dev server is needed. */
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
