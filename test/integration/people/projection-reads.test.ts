import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { rowsScanned } from '../../helpers/database/rows-read.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

function addContacts(first: number, last: number) {
  return warehouse.query`
    insert into contacts (source, contact_id, service, person_key, match_id, evidence, asked, run_id, row_number)
    select 'crm', 'c' || n, 'test', 'person:p' || n, n, 'email', true, 'r1', n
    from generate_series(${first}::integer, ${last}::integer) n`;
}

it('project() finds contacts and people by the index when there are 3,000', async () => {
  await addContacts(10_001, 13_000);
  await warehouse.query`
    insert into people (service, person_key, emails, phones, employment, said_by, enriched_at, run_id, attempt_id)
    select service, person_key, '[]', '[]', '[]', '{}', now(), 'r1', 'a1' from contacts`;
  await warehouse.query`analyze contacts, people`;
  const scanned = async () =>
    (await rowsScanned(warehouse, 'contacts')) + (await rowsScanned(warehouse, 'people'));
  const before = await scanned();
  await warehouse.query`
    select project('test', array_agg('person:p' || n), '{}', '{}') from generate_series(10001, 10250) n`;
  expect((await scanned()) - before).toBe(0);
  await warehouse.query`delete from contacts`;
});
