import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';

const guide = readFileSync(new URL('../../../docs/warehouse.md', import.meta.url), 'utf8');
const statements = [...guide.matchAll(/```sql\n(select[^`]*?);\n```/g)].map(([, statement]) => statement!);
let warehouse: TestWarehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.drop());

it('docs/warehouse.md answers at least ten questions in SQL', () =>
  expect(statements.length).toBeGreaterThanOrEqual(10));

it.each(statements)('docs/warehouse.md has SQL that the schema understands: %s', async (statement) => {
  await expect(warehouse.pool.query(statement)).resolves.toMatchObject({ rows: [] });
});
