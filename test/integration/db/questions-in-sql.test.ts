import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isReadable } from '../../../src/db/analyst-role.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { addToSuppressionList, testNote } from '../../helpers/warehouse/rows.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const guide = readFileSync(new URL('../../../docs/guides/questions-in-sql.md', import.meta.url), 'utf8');
const privacy = readFileSync(new URL('../../../docs/guides/privacy.md', import.meta.url), 'utf8');
const statements = [...guide.matchAll(/```sql\n(select[^`]*?);\n```/g)].map(([, statement]) => statement!);

const warehouse = await warehouseOfFile();

it('docs/guides/questions-in-sql.md answers at least ten questions in SQL', () =>
  expect(statements.length).toBeGreaterThanOrEqual(10));

it('every table and column that analysts read has a comment', async () => {
  const rows = await warehouse.query<{ name: string; column: string; comment: string | null }>`
    select c.relname as name, coalesce(a.attname, '') as column, d.description as comment
    from pg_class c
    cross join lateral (
      select attnum, attname from pg_attribute where attrelid = c.oid and attnum > 0 union all select 0, null) a
    left join pg_description d on d.objoid = c.oid and d.objsubid = a.attnum and d.classoid = 'pg_class'::regclass
    where c.relnamespace = 'enrichment'::regnamespace and c.relkind in ('r', 'v')
      and c.relname not like 'kysely%'`;
  const missing = rows.filter(
    ({ name, column, comment }) => comment === null && (column === '' || isReadable(name, column)),
  );
  expect(missing.map(({ name, column }) => `${name}.${column}`)).toEqual([]);
});

it.each(statements)(
  'docs/guides/questions-in-sql.md has SQL that the schema understands: %s',
  async (statement) => {
    await expect(warehouse.pool.query(statement)).resolves.toMatchObject({ rows: [] });
  },
);

it('the SQL in privacy.md lists when each person was first found, except suppressed and erased people', async () => {
  const [, statement] = /```sql\n(select[^`]*people_to_inform[^`]*?);\n```/.exec(privacy)!;
  for (const contactId of ['ada', 'ben', 'eve'])
    await appendContact(warehouse, {
      contactId,
      runId: 'r1',
      person: { id: contactId, first_name: contactId },
    });
  await appendContact(warehouse, { contactId: 'ada', runId: 'r2', person: { id: 'ada', title: 'CTO' } });
  await addToSuppressionList(warehouse, 'person:ben');
  await erase(warehouse, ['person:eve'], testNote);
  const { rows: said } = await warehouse.pool.query<{ first: Date }>(`
    select min(recorded_at) as first from observation_log where person_id = 'ada'`);
  const { rows } = await warehouse.pool.query(statement!);
  expect(rows).toMatchObject([
    { service: 'test', first_name: 'ada', contacts: ['generic/ada'], first_obtained_at: said[0]!.first },
  ]);
});
