import { beforeAll, expect, it } from 'vitest';
import { rebuild } from '../../../src/people/rebuild.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile();
const { signal } = new AbortController();

beforeAll(async () => {
  for (let n = 0; n < 5; n += 1)
    await appendContact(warehouse, {
      contactId: `c-${n}`,
      runId: 'r',
      rowNumber: n + 1,
      person: { id: `p-${n}`, title: 'CTO', organization: { id: 'o', name: 'Acme' } },
      phones: ['+14155550100'],
    });
});

async function contents(): Promise<unknown> {
  const tables = ['enriched_contacts', 'people', 'organizations'];
  const rows = await Promise.all(
    tables.map((table) => warehouse.pool.query<object>(`select t.* from ${table} t order by t::text`)),
  );
  return rows.map((result) => result.rows);
}

it('rebuild() corrects a contact whose match is another person', async () => {
  const before = await contents();
  await warehouse.query`update contacts set person_key = 'person:p-2' where contact_id = 'c-1'`;
  const checked = await rebuild(warehouse, { check: true, signal });
  expect(checked.differing.toSorted()).toEqual(['generic c-1']);
  await rebuild(warehouse, { check: false, signal });
  expect(await contents()).toEqual(before);
});

it('rebuild() names differences from the log with check, and corrects them without check', async () => {
  const before = await contents();
  await warehouse.query`update people set title = 'CEO' where person_id = 'p-1'`;
  await warehouse.query`delete from contacts where contact_id = 'c-2'`;
  await warehouse.query`delete from people where person_id = 'p-3'`;
  const damaged = await contents();
  const checked = await rebuild(warehouse, { check: true, signal });
  expect(checked).toMatchObject({ differences: 4, complete: true });
  expect(checked.differing.toSorted()).toEqual([
    'generic c-2',
    'generic c-3',
    'test person:p-1',
    'test person:p-3',
  ]);
  expect(await contents()).toEqual(damaged);
  await rebuild(warehouse, { check: false, signal });
  expect(await contents()).toEqual(before);
});
