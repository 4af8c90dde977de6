import { text } from 'node:stream/consumers';
import Papa from 'papaparse';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportContacts, exportedColumns, type ExportedColumn } from '../../../src/export/export-contacts.ts';
import type { ContactChoice } from '../../../src/export/contact-choice.ts';
import { parseProfileUrl } from '../../../src/domain/identity/profile-url.ts';
import { suppress } from '../../../src/privacy/suppressions.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { stagedRun } from '../../helpers/rows.ts';

let warehouse: TestWarehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

beforeEach(() => warehouse.pool.query('truncate people, contacts, suppression_entries cascade'));

afterAll(() => warehouse.drop());

type Row = Record<string, string>;

async function insert(
  contactId: string,
  columns: Record<string, unknown> & { linkedin_url?: string } = {},
): Promise<void> {
  const { source = 'hubspot', run_id = 'run-1', row_number = 1, ...fields } = columns;
  const key = { service: 'test', person_key: `${String(source)} ${contactId}` };
  await insertRow('people', {
    enriched_at: '2026-11-20T02:00:00Z',
    attempt_id: 'a',
    run_id,
    profile_url: parseProfileUrl(columns.linkedin_url ?? ''),
    emails: '[]',
    phones: '[]',
    employment: '[]',
    said_by: '{}',
    ...key,
    ...fields,
  });
  const match = { match_id: 1, evidence: 'email', asked: true, run_id, row_number };
  await insertRow('contacts', { source, contact_id: contactId, ...key, ...match });
}

async function insertRow(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
  const names = Object.keys(row);
  await warehouse.pool.query(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
}

async function csvOf(choice: ContactChoice = {}, columns: readonly ExportedColumn[] = exportedColumns) {
  let csv = '';
  const contacts = await exportContacts(warehouse, choice, columns, async (rows) => {
    csv = await text(rows);
  });
  return { contacts, rows: Papa.parse<Row>(csv, { header: true, skipEmptyLines: true }).data, csv };
}

const idsOf = async (choice: ContactChoice): Promise<string[]> =>
  (await csvOf(choice)).rows.map((row) => row['contact_id']!);

describe('exported contacts', () => {
  it('have all columns, and no text is changed by quotes, line breaks or commas', async () => {
    await insert('1', {
      first_name: 'Zoë "Z"',
      title: 'Head,\nSales',
      departments: ['sales', 'c-suite'],
      organization_employees: 250,
      phone: '+1 415 555 0100',
    });
    const { contacts, rows } = await csvOf();
    expect(contacts).toBe(1);
    expect(rows).toEqual([
      expect.objectContaining({
        source: 'hubspot',
        contact_id: '1',
        first_name: 'Zoë "Z"',
        title: 'Head,\nSales',
        departments: 'sales; c-suite',
        organization_employees: '250',
        phone: '+1 415 555 0100',
        last_name: '',
        enriched_at: '2026-11-20T02:00:00Z',
      }),
    ]);
    expect(Object.keys(rows[0]!)).toEqual([...exportedColumns]);
  });

  it.each(['=HYPERLINK("http://x")', '+SUM(1)', '-2+3', '@cmd', '\t=1', '\r=1'])(
    'hold no formula: %j',
    async (title) => {
      await insert('1', { title });
      expect((await csvOf()).rows[0]!['title']).toBe(`'${title}`);
    },
  );

  it('exportContacts() chooses contacts by source, run and cursor of the feed', async () => {
    await insert('a');
    await insert('b', { run_id: "run-'2" });
    await insert('c', { source: "o'brien" });
    await insert('d');
    await warehouse.pool.query(
      `insert into enrichment.changes (operation, source, contact_id, field_groups) values ('upsert', ` +
        `'hubspot', 'd', '{}')`,
    );
    expect(await idsOf({ runId: "run-'2" })).toEqual(['b']);
    expect(await idsOf({ source: "o'brien" })).toEqual(['c']);
    // Transactions of other test files on the server delay the feed.
    await expect.poll(() => idsOf({ since: '0-0' }), { timeout: 60_000 }).toEqual(['d']);
    expect(await idsOf({})).toEqual(['a', 'b', 'd', 'c']);
  });

  it('have the columns that are asked for, in that order', async () => {
    await insert('1', { email: 'ada@orbit.example' });
    expect((await csvOf({}, ['email', 'contact_id'])).csv).toBe('email,contact_id\nada@orbit.example,1\n');
  });

  it('leave out whoever is on the suppression list by address, id, profile or domain', async () => {
    await insert('kept', {
      email: 'ada@orbit.example',
      person_id: 'p0',
      linkedin_url: 'http://linkedin.com/in/ada',
    });
    await insert('address', { email: 'bo@orbit.example' });
    await insert('id', { person_id: 'p1' });
    await insert('profile', { linkedin_url: 'https://www.LinkedIn.com/in/Cy-Ek/?trk=x' });
    await insert('encoded', { linkedin_url: 'http://www.linkedin.com/in/jos%C3%A9-ruiz' });
    await insert('suffix', { linkedin_url: 'https://linkedin.com/in/josé-ruiz/es' });
    await insert('domain', { email: 'dee@eu.acme.example' });
    await insert('employer', { organization_domain: 'acme.example' });
    const keys = [
      'email:bo@orbit.example',
      'person:p1',
      'profile:linkedin.com/in/cy-ek',
      'profile:linkedin.com/in/josé-ruiz',
      'domain:acme.example',
    ];
    await warehouse.database
      .transaction()
      .execute((transaction) => suppress(transaction, keys, { by: 'test', reason: undefined }));
    expect(await idsOf({})).toEqual(['kept']);
  });

  it('leave out whoever is on the list by what only their row of the export says', async () => {
    const run = await stagedRun(warehouse, [
      { keys: ['email:info@orbit.example|bo roller', 'email:bo.private@orbit.example'] },
      { keys: ['email:info@orbit.example|cy ek'] },
    ]);
    await insert('bo', { email: 'info@orbit.example', run_id: run.runId, row_number: 1 });
    await insert('cy', { email: 'info@orbit.example', run_id: run.runId, row_number: 2 });
    await warehouse.database
      .transaction()
      .execute((transaction) =>
        suppress(transaction, ['email:bo.private@orbit.example'], { by: 'test', reason: undefined }),
      );
    expect(await idsOf({})).toEqual(['cy']);
  });

  it('are not counted where whoever reads them has had enough', async () => {
    await warehouse.pool.query(`
      with people as (
        insert into people (
          service, person_key, title, enriched_at, run_id, attempt_id, emails, phones, employment, said_by)
        select 'test', n, repeat('x', 1000), now(), 'r', 'a', '[]', '[]', '[]', '{}' from generate_series(1, 5000) n
      )
      insert into contacts (source, contact_id, service, person_key, match_id, evidence, asked, run_id, row_number)
      select 'hubspot', n, 'test', n, n, 'email', true, 'r', n from generate_series(1, 5000) n`);
    const contacts = await exportContacts(warehouse, {}, exportedColumns, async (rows) => {
      for await (const _ of rows) break;
    });
    expect(contacts).toBeUndefined();
    expect((await csvOf({}, ['contact_id'])).contacts).toBe(5000);
  });
});
