import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isReadable } from '../../../src/db/analyst-role.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const guide = readFileSync(new URL('../../../docs/guides/questions-in-sql.md', import.meta.url), 'utf8');
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
