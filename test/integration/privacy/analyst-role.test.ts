import { randomBytes } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { allowAnalyst, migrate, migrations } from '../../../src/db/migrate.ts';
import { createTestDatabase, onServer } from '../../helpers/database/database.ts';

const role = `analyst_${randomBytes(4).toString('hex')}`;
const notPermitted = { code: '42501' };

await onServer(`create role ${role} login password 'reads'`);
const databaseUrl = await createTestDatabase();
const url = Object.assign(new URL(databaseUrl), { username: role, password: 'reads' });
const owner = new pg.Pool({ connectionString: databaseUrl, max: 1 });
const analyst = new pg.Pool({ connectionString: url.href, max: 1 });

afterAll(async () => {
  await analyst.end();
  await owner.end();
});

it('the analyst role reads nothing before it is granted its rights', async () => {
  await expect(analyst.query('select * from enrichment.enriched_contacts')).rejects.toMatchObject(
    notPermitted,
  );
});

it.each([
  'select * from enrichment.enriched_contacts join enrichment.person_phones using (service, person_key)',
  'select run_id, outcome, count(*) from enrichment.run_rows group by 1, 2',
  'select r.file_name, sum(a.credits_settled) from enrichment.runs r join enrichment.attempts a using ' +
    '(run_id) group by 1',
  'select * from enrichment.budgets',
  'select * from enrichment.contact_history',
  'select * from enrichment.field_provenance',
  'select * from enrichment.job_changes',
  'select * from enrichment.changes',
  'select status, count(*) from enrichment.webhook_deliveries group by 1',
])('the analyst role can run: %s', async (statement) => {
  await allowAnalyst(databaseUrl, role);
  expect((await analyst.query(statement)).rows).toEqual([]);
});

it('the analyst role can read values in contact_history', async () => {
  await owner.query(
    `insert into enrichment.contact_matches
       (source, contact_id, service, person_key, evidence, asked, run_id, row_number, valid_from)
     values ('hubspot', '1', 'sandbox', 'p1', 'email', true, 'run-1', 1, now())`,
  );
  await owner.query(
    `insert into enrichment_internal.person_history
       (service, person_key, field_group, valid_from, valid_to, value, observation_id)
     values ('sandbox', 'p1', 'title', now() - interval '1 day', 'infinity', '{"title": "CTO"}', 1)`,
  );
  const { rows } = await analyst.query('select value from enrichment.contact_history');
  expect(rows).toEqual([{ value: { title: 'CTO' } }]);
});

it.each([
  'select * from enrichment_internal.raw_answers',
  'select body from enrichment.webhook_deliveries',
  'select raw from enrichment.run_rows',
  'select email from enrichment.run_rows',
  'select keys from enrichment.run_rows',
  'select token_hash from enrichment.attempts',
  'select header from enrichment.runs',
  'select options from enrichment.runs',
  'select entry_id from enrichment.suppression_entries',
  'select * from enrichment_internal.lookup_history',
  'select * from enrichment_internal.claims',
])('the analyst role cannot read: %s', async (statement) => {
  await expect(analyst.query(statement)).rejects.toMatchObject(notPermitted);
});

it.each([
  `insert into enrichment.budgets (budget_id) values ('mine')`,
  'update enrichment.people set phone = null',
  'delete from enrichment.attempts',
  'truncate enrichment.runs',
  'create table enrichment.mine (x int)',
  'drop table enrichment.budgets',
])('the analyst role cannot write: %s', async (statement) => {
  await expect(analyst.query(statement)).rejects.toMatchObject(notPermitted);
});

it('a migration resets the analyst role: extra grants are revoked and revoked grants are restored', async () => {
  await owner.query(`grant select on enrichment_internal.raw_answers to ${role}`);
  await owner.query(`revoke select on enrichment.budgets from ${role}`);
  const later = {
    up: async (schema: Kysely<never>) => {
      await sql`alter table enrichment.people add column timezone text`.execute(schema);
      await sql`alter table enrichment.attempts add column secret text`.execute(schema);
    },
  };
  await migrate(databaseUrl, { migrations: { ...migrations, '9999-later': later } });
  await analyst.query('select timezone from enrichment.people');
  await expect(analyst.query('select secret from enrichment.attempts')).rejects.toMatchObject(notPermitted);
  await expect(analyst.query('select * from enrichment_internal.raw_answers')).rejects.toMatchObject(
    notPermitted,
  );
  await analyst.query('select * from enrichment.budgets');
});

it('allowAnalyst() refuses a role that does not exist, and the role that owns the tables', async () => {
  await expect(allowAnalyst(databaseUrl, 'nobody')).rejects.toMatchObject({
    type: 'role.unknown',
  });
  const { rows } = await owner.query<{ name: string }>('select current_user as name');
  await expect(allowAnalyst(databaseUrl, rows[0]!.name)).rejects.toMatchObject({
    type: 'role.owner',
    exitCode: 2,
  });
});
