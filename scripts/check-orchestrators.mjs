// Runs the orchestrator example (Dagster) against the sandbox, in a virtual environment of its own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonEnvironment } from './python-environment.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const commands = pythonEnvironment('orchestrators', ['dagster==1.13.28']);
const folder = mkdtempSync(join(tmpdir(), 'enrich-dagster-'));
const { status } = spawnSync(join(commands, 'python'), [join(root, 'examples', 'dagster', 'check.py')], {
  cwd: folder,
  stdio: 'inherit',
  env: {
    PATH: process.env.PATH,
    HOME: folder,
    ...(process.env.TEMPORAL_CLI_PATH && { TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH }),
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? folder, '.cache'),
    ENRICH_DATA_DIR: join(folder, 'state'),
    ENRICH_COMMAND: `${process.execPath} ${join(root, 'dist', 'cli', 'main.js')}`,
  },
});
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
