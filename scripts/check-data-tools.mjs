// Checks that DuckDB reads every table that `enrich export` writes as Parquet and merges the parts of the change feed,
// and that OpenLineage's classes read the events of runs.
import { deepStrictEqual, ok } from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { exportedTables } from '../dist/src/export/export-table.js';
import { lineageEvent } from '../dist/src/monitoring/lineage.js';
import { withCheckWarehouse } from './check-warehouse.mjs';
import { freePort } from './free-port.mjs';
import { pythonEnvironment } from './python-environment.mjs';

const commands = pythonEnvironment('data-tools', ['duckdb==2.0.0', 'openlineage-python==1.54.0']);

const duckdbTypes = {
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  numeric: 'DOUBLE',
  date: 'DATE',
  'timestamp with time zone': 'TIMESTAMP WITH TIME ZONE',
  jsonb: 'JSON',
  'text[]': 'VARCHAR[]',
};

/**
 * Conditions for rows that an export contains. The warehouse also stores former employers, which no export contains.
 */
const isExported = {
  organizations: `exists (
    select
    from enrichment.people p
    where (p.service, p.organization_key) = (t.service, t.organization_key))`,
};

await withCheckWarehouse(async ({ directory, databaseUrl, sample, enrich }) => {
  const events = [];
  const receiver = createServer((request, response) => {
    const parts = [];
    request.on('data', (bytes) => parts.push(bytes));
    request.on('end', () => {
      events.push(JSON.parse(Buffer.concat(parts)));
      response.writeHead(201).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const sandbox = await startSandbox();
  const settings = {
    OPENLINEAGE_URL: `http://127.0.0.1:${receiver.address().port}`,
    ENRICHMENT_BASE_URL: `${sandbox.url}/api/v1`,
    ENRICHMENT_API_KEY: 'sandbox-key',
    LATE_RESULTS_POLL_AFTER: '2s',
  };
  try {
    await enrich(['run', sample(1), '--yes', '--reveal', 'phone'], settings);
    await sandbox.play({ rules: [{ job_changes: 0.5 }] });
    await enrich(['run', sample(1), '--yes', '--freshness', '0s'], settings);
    const unexpected = ['run', sample(2), '--yes', '--expect', 'rows=1000%..2000%'];
    await enrich(unexpected, { ...settings, exitCode: 3 });
    await enrich(['cancel', 'latest'], settings);
  } finally {
    sandbox.stop();
    receiver.close();
  }

  await checkParquet({ directory, databaseUrl, enrich });
  await checkMerge({ directory, databaseUrl, enrich });
  checkLineage({ directory, events });
});

/** Starts the sandbox as a separate service. Its people can change employer between two runs. */
async function startSandbox() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const sandbox = spawn(process.execPath, [command, 'sandbox', '--port', `${port}`], { stdio: 'pipe' });
  await Promise.race([once(sandbox.stdout, 'data'), once(sandbox.stderr, 'data')]);
  return {
    url,
    play: async (scenario) => {
      const body = JSON.stringify(scenario);
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${url}/sandbox/scenario`, { method: 'PUT', body, headers });
      ok(status < 300, `the sandbox refused a scenario: ${status}`);
    },
    stop: () => sandbox.kill(),
  };
}

async function checkParquet({ directory, databaseUrl, enrich }) {
  const files = new Map();
  for (const table of Object.keys(exportedTables)) {
    const file = join(directory, `${table}.parquet`);
    files.set(file, exportedTables[table].relation);
    await enrich(['export', '--table', table, '--output', file]);
  }
  const described = python('describe-parquet.py', ...files.keys());
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    for (const [file, relation] of files) {
      const { rows, columns } = described[file];
      ok(rows !== '0', `${relation} has rows`);
      deepStrictEqual({ rows, columns }, await expectedOf(database, relation, Object.keys(columns)));
      console.log(
        `DuckDB: ${relation} has the warehouse's ${rows} rows in ${Object.keys(columns).length} columns`,
      );
    }
  } finally {
    await database.end();
  }
}

/** Checks that the guide's SQL keeps a copy up to date: it merges a first part, and a second part after an erasure. */
async function checkMerge({ directory, databaseUrl, enrich }) {
  const folder = `${join(directory, 'changes')}/`;
  mkdirSync(folder);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await enrich(['export', '--table', 'changes', '--output', folder]);
    const { rows } = await database.query('select person_id from enrichment.enriched_contacts limit 1');
    const erased = `person:${rows[0].person_id}`;
    await enrich(['erase', erased, '--yes', '--reason', 'check of the data tools']);
    await enrich(['export', '--table', 'changes', '--output', folder]);
    const { parts } = JSON.parse(readFileSync(`${folder}manifest.json`, 'utf8'));
    deepStrictEqual(parts.length, 2);
    const guide = fileURLToPath(new URL('../docs/guides/other-warehouses.md', import.meta.url));
    const copy = python('merge-parts.py', guide, ...parts.map(({ file }) => folder + file));
    const text = 'select source, contact_id, email, title, phone from enrichment.enriched_contacts';
    const { rows: expected } = await database.query({ text, rowMode: 'array' });
    deepStrictEqual(copy.map(String).sort(), expected.map(String).sort());
    console.log(`DuckDB: the merged parts have the ${expected.length} contacts of the warehouse`);
  } finally {
    await database.end();
  }
}

/** Returns what DuckDB must find for these columns of a table: types, counts of nulls, and checksums. */
async function expectedOf(database, relation, names) {
  const { rows: types } = await database.query(
    `select attname as name, format_type(atttypid, null) as type
     from pg_attribute
     where attrelid = $1::regclass`,
    [`enrichment.${relation}`],
  );
  const typeOf = new Map(types.map(({ name, type }) => [name, type]));
  const columns = {};
  let rows;
  for (const name of names) {
    const type = typeOf.get(name);
    const checksum =
      type === 'text'
        ? `md5(string_agg(md5(${name}), '' order by md5(${name}) collate "C"))`
        : type === 'timestamp with time zone'
          ? `sum((extract(epoch from ${name}) * 1000000)::bigint)`
          : 'null';
    const { rows: found } = await database.query(
      `select count(*)::text as rows, count(*) filter (where ${name} is null)::text as nulls, (${checksum})::text
         as checksum
       from enrichment.${relation} t
       where ${isExported[relation] ?? true}`,
    );
    const { nulls, checksum: sum } = found[0];
    rows = found[0].rows;
    columns[name] = { type: duckdbTypes[type], nulls, checksum: sum };
  }
  return { rows, columns };
}

function checkLineage({ directory, events }) {
  deepStrictEqual(
    events.map(({ eventType }) => eventType),
    ['START', 'COMPLETE', 'START', 'COMPLETE', 'START', 'ABORT'],
  );
  const source = { namespace: 'enrich', databaseUrl: 'postgres://db.example/warehouse', version: '1.2.3' };
  const run = { runId: 'run-1', filePath: '/exports/contacts.csv', options: {}, asOf: new Date() };
  const failed = lineageEvent(source, 'FAIL', run, { at: new Date(), enriched: 0 });
  const file = join(directory, 'events.json');
  writeFileSync(file, JSON.stringify([...events, failed]));
  const read = python('read-lineage.py', file);
  deepStrictEqual(withoutEmpty(read), withoutEmpty([...events, failed]));
  console.log(`OpenLineage: its classes read ${events.length} events of runs and one of a failure`);
}

/** Removes empty objects, because OpenLineage's classes write a missing field as an empty object. */
function withoutEmpty(value) {
  const isEmpty = (each) => typeof each === 'object' && each !== null && Object.keys(each).length === 0;
  return JSON.parse(JSON.stringify(value), (_, each) => (isEmpty(each) ? undefined : each));
}

/** Runs a Python script. @returns the JSON that it prints */
function python(script, ...parameters) {
  const path = fileURLToPath(new URL(`data-tools/${script}`, import.meta.url));
  const stdio = ['ignore', 'pipe', 'inherit'];
  return JSON.parse(execFileSync(join(commands, 'python'), [path, ...parameters], { stdio }));
}
