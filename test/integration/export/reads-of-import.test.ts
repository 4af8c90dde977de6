import { expect, it } from 'vitest';
import { countSuppressed } from '../../../src/export/contact-choice.ts';
import { readContactsToImport } from '../../../src/export/crm-import/read-contacts-to-import.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { rowsReadByTable } from '../../helpers/database/rows-read.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 1 });
const contacts = 400;
const tables = ['people', 'contacts', 'observations', 'run_rows'];

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

it('countSuppressed() looks each key up in the suppression list after the list was emptied and refilled', async () => {
  const addKeys = (name: string) => warehouse.query`
    with entry as (
      insert into suppression_entries (entry_id, kind, added_by)
      select sha256(convert_to(${name}, 'UTF8')), 'person', 'test' returning entry_id
    )
    insert into suppressed_keys (key_hash, entry_id)
    select sha256(convert_to(${name} || n, 'UTF8')), entry_id from entry, generate_series(1, 3000) n`;
  await warehouse.pool.query('alter table suppressed_keys set (autovacuum_enabled = off)');
  await addKeys('old');
  await warehouse.query`delete from suppression_entries`;
  await warehouse.query`vacuum (truncate off) suppressed_keys`;
  await addKeys('new');
  const before = await rowsReadByTable(warehouse);
  expect(await countSuppressed(warehouse, { source: 'hubspot' })).toBe(0);
  const after = await rowsReadByTable(warehouse);
  expect(after.get('suppressed_keys')! - before.get('suppressed_keys')!).toBeLessThan(20 * contacts);
});
