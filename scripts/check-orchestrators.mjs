// Runs the examples of orchestrators against the sandbox: Dagster in a virtual environment of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const environment = join(root, 'node_modules', '.cache', 'orchestrators');
const python = join(environment, 'bin', 'python');
const dagster = 'dagster==1.13.28';

/** Ends the check with the exit code of a command that fails. */
function run(command, parameters, options = {}) {
  const { status } = spawnSync(command, parameters, { stdio: 'inherit', ...options });
  if (status !== 0) process.exit(status ?? 1);
}

if (spawnSync('python3', ['-c', 'import venv']).status !== 0) {
  console.log('skipped: python3 with venv is not installed');
  process.exit(0);
}
if (!existsSync(python)) run('python3', ['-m', 'venv', environment]);
run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', dagster]);
const folder = mkdtempSync(join(tmpdir(), 'enrich-dagster-'));
run(python, [join(root, 'examples', 'dagster', 'check.py')], {
  cwd: folder,
  env: {
    PATH: process.env.PATH,
    HOME: folder,
    ...(process.env.TEMPORAL_CLI_PATH && { TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH }),
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? folder, '.cache'),
    ENRICH_DATA_DIR: join(folder, 'state'),
    ENRICH_COMMAND: `${process.execPath} ${join(root, 'dist', 'src', 'cli', 'main.js')}`,
  },
});
rmSync(folder, { recursive: true });
