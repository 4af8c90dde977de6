import { expect, it } from 'vitest';
import { readContactsToImport } from '../../../src/export/crm-import/read-contacts-to-import.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { rowsReadByTable } from '../../helpers/database/rows-read.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 1 });
const contacts = 400;
const tables = ['people', 'contacts', 'observation_log', 'run_rows'];

it('readContactsToImport() reads the data of each contact once before the first ANALYZE of the tables', async () => {
  for (const table of tables)
    await warehouse.pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
  const people = Array.from({ length: contacts }, (_, index) => ({ keys: [], contactId: `c${index + 1}` }));
  const { runId } = await stagedRun(warehouse, people);
  await warehouse.query`update runs set source = 'hubspot' where run_id = ${runId}`;
  await warehouse.query`
    insert into observations (service, person_key, person_id, kind, asked_at, run_id, attempt_id, facts)
    select 'test', 'person:p' || n, 'p' || n, 'answer', now() - make_interval(days => 3 - place), ${runId}, 'a1',
      jsonb_build_object('organization_name', jsonb_build_object('organization_name', 'Company ' || n + place))
    from generate_series(1, ${contacts}::integer) n, generate_series(1, 2) place`;
  await warehouse.query`
    insert into people (service, person_key, emails, phones, employment, said_by, enriched_at, run_id, attempt_id)
    select service, person_key, '[]', '[]', '[]', jsonb_build_object('title', max(observation_id)), now(), ${runId},
      'a1'
    from observations group by service, person_key`;
  await warehouse.query`
    insert into contacts (source, contact_id, service, person_key, match_id, evidence, asked, run_id, row_number)
    select 'hubspot', 'c' || n, 'test', 'person:p' || n, n, 'email', true, ${runId}, n
    from generate_series(1, ${contacts}::integer) n`;
  const before = await rowsReadByTable(warehouse);
  const ids: string[] = [];
  for await (const { contactId } of readContactsToImport(warehouse, { source: 'hubspot', runId }))
    ids.push(contactId);
  expect(ids).toHaveLength(contacts);
  const after = await rowsReadByTable(warehouse);
  const readAgain = tables.filter((table) => after.get(table)! - before.get(table)! > 20 * contacts);
  expect(readAgain).toEqual([]);
});
