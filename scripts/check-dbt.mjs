// Builds the dbt package after runs against the sandbox: once in full, once incrementally after an undo.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, withCheckWarehouse } from './check-warehouse.mjs';
import { pythonEnvironment } from './python-environment.mjs';

const project = fileURLToPath(new URL('../dbt', import.meta.url));
// Later versions download a parser from GitHub.
const commands = pythonEnvironment('dbt', ['dbt-core<1.12', 'dbt-postgres<1.12']);

await withCheckWarehouse(async ({ directory, databaseUrl, environment, sample, enrich }) => {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const dbt = (...parameters) =>
    run(join(commands, 'dbt'), [...parameters, '--project-dir', project], {
      environment: {
        ...environment,
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: decodeURIComponent(username),
        PGPASSWORD: decodeURIComponent(password),
        PGDATABASE: pathname.slice(1),
        DBT_PROFILES_DIR: project,
        DBT_TARGET_PATH: join(directory, 'target'),
        DBT_LOG_PATH: join(directory, 'logs'),
        DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
      },
    });

  for (const seed of [1, 2]) await enrich(['run', sample(seed), '--yes', '--reveal', 'phone']);
  await dbt('build');
  await enrich(['undo', 'latest', '--yes']);
  await dbt('build');
  await dbt('source', 'freshness');
});
