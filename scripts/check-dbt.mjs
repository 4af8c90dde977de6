// Builds the dbt package after runs against the sandbox, in full and then incrementally after an undo, both in
// PostgreSQL and in DuckDB over the Parquet files of `enrich export`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportedTables } from '../dist/src/export/export-table.js';
import { run, withCheckWarehouse } from './check-warehouse.mjs';
import { pythonEnvironment } from './python-environment.mjs';

const project = fileURLToPath(new URL('../dbt', import.meta.url));
// Later versions of dbt download a parser from GitHub.
const commands = pythonEnvironment('dbt', ['dbt-core<1.12', 'dbt-postgres<1.12', 'dbt-duckdb==1.11.1']);

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
        ENRICH_PARQUET: parquet,
        DUCKDB_PATH: join(directory, 'enrich.duckdb'),
        DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
      },
    });

  const parquet = join(directory, 'parquet');
  mkdirSync(join(parquet, 'changes'), { recursive: true });
  const buildBoth = async () => {
    await dbt('build');
    for (const [table, { relation }] of Object.entries(exportedTables)) {
      const file = table === 'changes' ? 'changes/' : `${relation}.parquet`;
      const select = table === 'contacts' ? ['--select', '*'] : [];
      await enrich(['export', '--table', table, ...select, '--output', join(parquet, file)]);
    }
    await dbt('build', '--target', 'parquet');
  };

  for (const seed of [1, 2]) await enrich(['run', sample(seed), '--yes', '--reveal', 'phone']);
  await buildBoth();
  await enrich(['undo', 'latest', '--yes']);
  await buildBoth();
  await dbt('source', 'freshness');
});
