import { readdirSync, readFileSync } from 'node:fs';
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compareMigrations, migrate, migrations } from '../../../src/db/migrate.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { untilLockAwaited } from '../../helpers/database/contents.ts';

let databaseUrl: string;
let pool: pg.Pool;

beforeEach(async () => {
  databaseUrl = await createTestDatabase({ empty: true });
  pool = new pg.Pool({ connectionString: databaseUrl });
  // `drop` may find a connection that is just being ended, and end it first.
  pool.on('connect', (client) => client.on('error', () => {}));
});

afterEach(async () => {
  await pool.end();
});

/** Names of the migrations, as their files are named. */
const all = readdirSync(new URL('../../../src/db/migrations/', import.meta.url))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace('.ts', ''))
  .sort();

/** The name of a migration that only the next release has. */
const next = '9999-of-the-next-release';
const nextMigrations = {
  ...migrations,
  [next]: {
    up: async (schema: Kysely<never>) => {
      await sql`alter table enrichment.runs add column more text`.execute(schema);
    },
  },
};

it('migrate() applies each migration once when four processes start at the same moment', async () => {
  const migrated = await Promise.all([1, 2, 3, 4].map(() => migrate(databaseUrl)));
  expect(migrated.flatMap(({ done }) => done).sort()).toEqual(all);
  expect(await compareMigrations(databaseUrl)).toEqual({ pending: [], newer: [] });
});

it('migrate() fails with a readable error if its connection is lost', async () => {
  const ends = {
    ...migrations,
    [next]: {
      up: async (schema: Kysely<never>) => {
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(schema);
      },
    },
  };
  await expect(migrate(databaseUrl, { migrations: ends })).rejects.toMatchObject({
    type: expect.stringMatching(/^database\./),
  });
});

it('migrate() refuses a database that does not store texts in UTF8', async () => {
  const url = new URL(databaseUrl);
  url.pathname += '_latin1';
  await pool.query(
    `create database ${url.pathname.slice(1)} encoding 'LATIN1' locale 'C' template template0`,
  );
  await expect(migrate(url.href)).rejects.toMatchObject({
    type: 'database.encoding',
    message: expect.stringContaining('LATIN1'),
  });
});

it('migrate() waits for an open transaction without blocking other transactions', async () => {
  await migrate(databaseUrl);
  const analyst = await pool.connect();
  await analyst.query('begin; select * from enrichment.runs');
  let migrated = false;
  const migrating = migrate(databaseUrl, { migrations: nextMigrations }).then((result) => {
    migrated = true;
    return result;
  });
  await untilLockAwaited({ pool });
  // This query queues behind the lock request of the migration, which gives way.
  await pool.query('select count(*) from enrichment.runs');
  expect(migrated).toBe(false);
  await analyst.query('commit');
  analyst.release();
  expect((await migrating).done).toEqual([next]);
});

it('migrate() fails without a change if a transaction stays open, and the error says how to find it', async () => {
  await migrate(databaseUrl);
  const analyst = await pool.connect();
  await analyst.query('begin; select * from enrichment.runs');
  const options = { migrations: nextMigrations, patienceMilliseconds: 0 };
  await expect(migrate(databaseUrl, options)).rejects.toMatchObject({
    type: 'database.in-use',
    next: expect.stringContaining('pg_stat_activity'),
  });
  await analyst.query('commit');
  analyst.release();
  expect(await migrate(databaseUrl)).toEqual({ done: [], newer: [] });
});

it('migrate() changes nothing in a database of a newer release, and returns its newer migrations', async () => {
  await migrate(databaseUrl, { migrations: nextMigrations });
  expect(await migrate(databaseUrl)).toEqual({ done: [], newer: [next] });
  expect(await compareMigrations(databaseUrl)).toEqual({ pending: [], newer: [next] });
});

it('no migration drops, renames or retypes a column, so an older release works with a newer database', () => {
  const takingAway =
    /\bdrop (?:table|column|schema|type|view)\b|\brename\b|\bset not null\b|\balter column \w+ (?:set data )?type\b|\btruncate\b|\bdelete from\b/i;
  for (const name of all.slice(1)) {
    const path = new URL(`../../../src/db/migrations/${name}.ts`, import.meta.url);
    expect.soft(takingAway.exec(readFileSync(path, 'utf8'))?.[0], name).toBeUndefined();
    // A row that an older release writes has no value for a new column.
    for (const [column] of readFileSync(path, 'utf8').matchAll(/add column[^,;`]*/gi))
      if (/not null/i.test(column)) expect.soft(column, name).toMatch(/default/i);
  }
});

it('migrate() refuses a database of another unreleased commit; the error names ENRICH_DATA_DIR', async () => {
  await migrate(databaseUrl);
  await pool.query("comment on table enrichment.kysely_migration is 'another'");
  const refused = { type: 'database.other-commit', next: expect.stringContaining('ENRICH_DATA_DIR') };
  await expect(migrate(databaseUrl)).rejects.toMatchObject(refused);
  await expect(compareMigrations(databaseUrl)).rejects.toMatchObject(refused);
  await pool.query('comment on table enrichment.kysely_migration is null');
  const uncommented = { ...refused, next: expect.stringMatching(/^if .* --no-comments.*ENRICH_DATA_DIR/) };
  await expect(migrate(databaseUrl)).rejects.toMatchObject(uncommented);
});
