// Loads the warehouse into DuckDB with the named examples: first in full, then the changes after an erasure and a run
// that gives CRM records to other people. Both times, DuckDB must equal the warehouse.
import { deepStrictEqual, ok } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { withCheckWarehouse } from './check-warehouse.mjs';
import { pythonEnvironment } from './python-environment.mjs';

const example = (path) => fileURLToPath(new URL(`../examples/${path}`, import.meta.url));

/** Packages of each loader, and the command that writes a DuckDB database into an empty folder. */
const loaders = {
  dlt: {
    packages: ['dlt[duckdb]==1.31.0', 'duckdb==2.0.1', 'psycopg2-binary==2.9.13'],
    database: 'enrich_contacts.duckdb',
    command: (commands) => [join(commands, 'python'), example('dlt/load_contacts.py')],
    settings: ({ folder, databaseUrl }) => ({
      DATABASE_URL: databaseUrl,
      DLT_DATA_DIR: join(folder, 'dlt'),
      RUNTIME__DLTHUB_TELEMETRY: 'false',
    }),
  },
  sling: {
    // The newest release whose package contains the program. Later ones download it from GitHub, as Sling does with
    // DuckDB.
    packages: ['sling-linux-amd64==1.4.11', 'duckdb-cli==1.5.6', 'duckdb==2.0.1'],
    database: 'warehouse.duckdb',
    command: (commands) => {
      const code = 'import sling_linux_amd64 as s; print(s.SLING_BIN)';
      const program = execFileSync(join(commands, 'python'), ['-c', code], { encoding: 'utf8' }).trim();
      execFileSync('chmod', ['+x', program]);
      return [program, 'run', '-r', example('sling/replication.yaml')];
    },
    settings: ({ folder, databaseUrl, commands }) => ({
      ENRICH: `${databaseUrl}?sslmode=disable`,
      WAREHOUSE: `duckdb://${join(folder, 'warehouse.duckdb')}?copy_method=csv_files`,
      DUCKDB_PATH: join(commands, 'duckdb'),
      // Without this setting and the copy method, DuckDB would download extensions.
      DUCKDB_USE_INSTALLED_EXTENSIONS: 'true',
      SLING_HOME_DIR: join(folder, 'sling'),
      SLING_DISABLE_TELEMETRY: 'true',
    }),
  },
};

const wanted = process.argv.slice(2);
const columns = 'source, contact_id, email, title, phone, organization_domain, run_id';

await withCheckWarehouse(async ({ directory, databaseUrl, sample, enrich }) => {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await enrich(['run', sample(1), '--yes', '--reveal', 'phone']);
    for (const name of wanted) await load(name);
    const { rows } = await database.query(
      'select source, contact_id from enrichment.enriched_contacts limit 1',
    );
    const erased = `${rows[0].source}/${rows[0].contact_id}`;
    await enrich(['erase', '--contact', erased, '--yes', '--reason', 'check of the loaders']);
    await enrich(['run', sample(2), '--yes']);
    for (const name of wanted) await load(name);
  } finally {
    await database.end();
  }

  async function load(name) {
    const { packages, command, settings, database: file } = loaders[name];
    const commands = pythonEnvironment(name, packages);
    const folder = join(directory, name);
    mkdirSync(folder, { recursive: true });
    const [program, ...parameters] = command(commands);
    const env = { PATH: process.env.PATH, HOME: folder, ...settings({ folder, databaseUrl, commands }) };
    execFileSync(program, parameters, { cwd: folder, env, stdio: 'inherit' });
    const query = `select ${columns} from enrich.contacts`;
    const code =
      'import duckdb, json, sys; print(json.dumps(duckdb.connect(sys.argv[1]).sql(sys.argv[2]).fetchall()))';
    const read = execFileSync(join(commands, 'python'), ['-c', code, join(folder, file), query]);
    const expected = await database.query({
      text: `select ${columns} from enrichment.enriched_contacts`,
      rowMode: 'array',
    });
    ok(expected.rows.length > 0);
    deepStrictEqual(JSON.parse(read).map(String).sort(), expected.rows.map(String).sort());
    console.log(`${name}: DuckDB has the ${expected.rows.length} contacts of the warehouse`);
  }
});
