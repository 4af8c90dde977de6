import { expect, it } from 'vitest';
import { pagePath, pageWith } from '../../../scripts/reference/page.ts';
import { readTables, tablesIndex, tablesPage, tablesPages } from '../../../scripts/reference/tables.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile();
const tables = await readTables(warehouse.database as never);

it.each<readonly [string, string]>([
  ['tables', tablesIndex(tables)],
  ...tablesPages.map((page) => [page, tablesPage(tables, page)] as const),
])('docs/reference/%s.md describes the migrated database', async (name, generated) => {
  await expect(pageWith(name, generated)).toMatchFileSnapshot(
    pagePath(name),
    'npm run reference writes the file',
  );
});
