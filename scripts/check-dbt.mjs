// Builds the dbt package after runs against the sandbox: once in full, once incrementally after an undo.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../dist/src/dev/postgres.js';
import { sampleExport } from '../dist/src/sandbox/population/sample-export.js';

const root = fileURLToPath(new URL('..', import.meta.url));
// Later versions download a parser from GitHub.
const packages = ['dbt-core<1.12', 'dbt-postgres<1.12'];

const dbt = findDbt();
if (dbt === undefined) {
  console.error(
    'check:dbt skipped: Python 3 with venv and pip is not there, or PyPI cannot be reached (see above)',
  );
  process.exit(0);
}

const directory = mkdtempSync(join(tmpdir(), 'enrich-dbt-'));
const server = join(directory, 'postgres');
try {
  const { databaseUrl } = await startEmbeddedPostgres({ directory: server });
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const environment = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    // Not the folder of the server: a command stops the server in its own folder when it ends.
    ENRICH_DATA_DIR: join(directory, 'data'),
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
    DBT_PROFILES_DIR: join(root, 'dbt'),
    DBT_TARGET_PATH: join(directory, 'target'),
    DBT_LOG_PATH: join(directory, 'logs'),
    DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
  };
  const enrich = (...parameters) =>
    run(process.execPath, [join(root, 'dist/cli/main.js'), ...parameters], environment);
  const inDbt = (...parameters) => run(dbt, [...parameters, '--project-dir', join(root, 'dbt')], environment);

  for (const seed of [1, 2]) {
    const file = join(directory, `contacts-${seed}.csv`);
    writeFileSync(file, [...sampleExport({ people: 60, seed })].join(''));
    enrich('run', file, '--yes', '--reveal', 'phone');
  }
  inDbt('build');
  enrich('undo', 'latest', '--yes');
  inDbt('build');
  inDbt('source', 'freshness');
} finally {
  await stopEmbeddedPostgres(server);
  rmSync(directory, { recursive: true, force: true });
}

/** The command given as DBT, or that of a virtual environment in dist, which is made once. */
function findDbt() {
  if (process.env.DBT) return process.env.DBT;
  const folder = join(root, 'dist', '.dbt');
  const command = join(folder, 'bin', 'dbt');
  if (existsSync(command)) return command;
  console.error('Installing dbt into dist/.dbt (125 MB)');
  const steps = [
    ['python3', ['-m', 'venv', folder]],
    [join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]],
  ];
  const isInstalled = steps.every(
    ([program, parameters]) => spawnSync(program, parameters, { stdio: ['ignore', 2, 2] }).status === 0,
  );
  return isInstalled && existsSync(command) ? command : undefined;
}

function run(program, parameters, env) {
  const { status } = spawnSync(program, parameters, { cwd: root, env, stdio: 'inherit' });
  if (status === 0) return;
  throw new Error(`${parameters.join(' ')} ended with exit code ${status}`);
}
