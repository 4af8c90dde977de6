import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import Papa from 'papaparse';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { exportFormatNames } from '../../../src/export/export-format.ts';
import { exportTable, type TableExport, contactColumns } from '../../../src/export/export-table.ts';
import { writeS3Object } from '../../../src/files/s3-client.ts';
import type { ContactChoice } from '../../../src/export/contact-choice.ts';
import { parseProfileUrl } from '../../../src/domain/identity/values/profile-url.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList, stagedRun } from '../../helpers/warehouse/rows.ts';
import { S3Store } from '../../helpers/servers/s3-store.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

beforeEach(
  () =>
    warehouse.query`
    truncate people, person_keys,
    contact_records, contact_keys, contact_matches, observation_log, suppression_entries cascade`,
);

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
    valid_from: '{}',
    ...key,
    ...fields,
  });
  const match = { evidence: 'email', asked: true, run_id, row_number };
  await insertRow('contact_matches', { source, contact_id: contactId, ...key, ...match });
}

async function insertRow(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
  const names = Object.keys(row);
  await warehouse.pool.query(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
}

async function bytesOf(asked: Partial<TableExport>): Promise<{ rows: number | undefined; bytes: Buffer }> {
  let bytes = Buffer.alloc(0);
  const rows = await exportTable(
    warehouse,
    { table: 'contacts', format: 'csv', choice: {}, ...asked },
    async (from) => {
      bytes = await buffer(from);
    },
  );
  return { rows, bytes };
}

async function csvOf(choice: ContactChoice = {}, select?: readonly string[]) {
  const { rows, bytes } = await bytesOf({ choice, select });
  const csv = bytes.toString();
  return { contacts: rows, rows: Papa.parse<Row>(csv, { header: true, skipEmptyLines: true }).data, csv };
}

const idsOf = async (choice: ContactChoice): Promise<string[]> =>
  (await csvOf(choice)).rows.map((row) => row['contact_id']!);

const parquetOf = async (asked: Partial<TableExport>) => {
  const { bytes } = await bytesOf({ ...asked, format: 'parquet' });
  const file = Uint8Array.from(bytes).buffer;
  return { file, rows: await parquetReadObjects({ file }) };
};

const jsonLinesOf = async (asked: Partial<TableExport>): Promise<Record<string, unknown>[]> =>
  (await bytesOf({ ...asked, format: 'jsonl' })).bytes
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Texts that a format could confuse with its own characters. */
const awkward = [
  '=1+1',
  String.raw`back\slash \N \.`,
  'tab\there',
  'two\nlines\r\n',
  '"quoted", x',
  '\u0001\u0002',
  '',
];

it('exportTable() writes every text unchanged as JSON Lines and Parquet', async () => {
  for (const [index, title] of awkward.entries()) await insert(`${index}`, { title });
  const select = ['title'];
  const expected = awkward.map((title) => ({ title }));
  expect(await jsonLinesOf({ select })).toEqual(expected);
  expect((await parquetOf({ select })).rows).toEqual(expected);
});

it('exportTable() says in advance how a file of each format begins', async () => {
  await insert('1', { title: 'CTO' });
  for (const format of exportFormatNames) {
    const take = async (bytes: Readable, beginning: string) => {
      expect((await buffer(bytes)).toString()).toMatch(new RegExp(`^${beginning}`));
    };
    for (const table of ['contacts', 'people'] as const)
      await exportTable(warehouse, { table, format, choice: {}, select: ['*'] }, take);
  }
});

it('exportTable() writes Parquet types, nulls, lists and UTC times that another program can read', async () => {
  await insert('1', {
    departments: ['sales', 'c "suite"'],
    organization_employees: 250,
    enriched_at: '2026-11-20T02:00:00.123456Z',
  });
  await insert('2');
  const select = ['contact_id', 'title', 'departments', 'organization_employees', 'enriched_at'];
  const { file, rows } = await parquetOf({ select });
  const [one, two] = rows;
  expect(one).toEqual({
    contact_id: '1',
    title: null,
    departments: ['sales', 'c "suite"'],
    organization_employees: 250,
    enriched_at: new Date('2026-11-20T02:00:00.123Z'),
  });
  expect(two!['departments'] ?? null).toBeNull();
  expect(two!['organization_employees']).toBeNull();
  const elements = parquetSchema(parquetMetadata(file)).children.map(({ element }) => element);
  expect(elements.map(({ name }) => name)).toEqual(select);
  expect(elements.at(-1)!.logical_type).toEqual({
    type: 'TIMESTAMP',
    isAdjustedToUTC: true,
    unit: 'MICROS',
  });
  expect((await jsonLinesOf({ select }))[0]).toMatchObject({ enriched_at: '2026-11-20T02:00:00.123456Z' });
});

it('exportTable() of a run writes the contacts of the run with values that later runs have found', async () => {
  const person = { id: 'ada', first_name: 'Ada' };
  const contact = { contactId: 'ada', rowNumber: 4 };
  const first = { ...contact, source: 'hubspot', runId: 'r1', person: { ...person, title: 'A' } };
  await appendContact(warehouse, first);
  await appendContact(warehouse, {
    ...contact,
    source: 'salesforce',
    runId: 'r2',
    rowNumber: 7,
    askedAt: '2026-11-21T08:00:00Z',
    person: { ...person, title: 'B' },
  });
  const select = ['source', 'title', 'run_id', 'row_number', 'attempt_id'];
  expect(await jsonLinesOf({ select, choice: { runId: 'r1' } })).toEqual([
    { source: 'hubspot', title: 'B', run_id: 'r1', row_number: 4, attempt_id: 'attempt of r2' },
  ]);
  expect(await jsonLinesOf({ select, choice: { runId: 'r2' } })).toEqual([
    { source: 'salesforce', title: 'B', run_id: 'r2', row_number: 7, attempt_id: 'attempt of r2' },
  ]);
  const rows = await warehouse.query`
    select run_id from field_provenance where source = 'hubspot' and field_group = 'title'`;
  expect(rows).toEqual([{ run_id: 'r2' }]);
});

const store = await S3Store.open();
const object = { bucket: 'lake', key: 'contacts.parquet' };
vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
vi.stubEnv('AWS_REGION', 'eu');

beforeEach(() => store.objects.clear());

afterAll(async () => {
  vi.unstubAllEnvs();
  await store.close();
});

it.each([0, 33 * 1024 * 1024 + 1])('writeS3Object() writes %d bytes unchanged', async (length) => {
  const bytes = Buffer.alloc(length, 'abcdefg');
  await writeS3Object(Readable.from([bytes.subarray(0, 5), bytes.subarray(5)]), object, store);
  expect(store.objects.get('/lake/contacts.parquet')!.body.equals(bytes)).toBe(true);
});

it('writeS3Object() leaves nothing in the bucket if its input ends with an error', async () => {
  const lost = new Error('the connection to the database is lost');
  const endEarly = async function* () {
    yield Buffer.alloc(33 * 1024 * 1024);
    await Promise.reject(lost);
  };
  await expect(writeS3Object(Readable.from(endEarly()), object, store)).rejects.toBe(lost);
  expect([store.objects.size, store.uploads.size]).toEqual([0, 0]);
});

it('exportTable() writes all columns of contacts as CSV, with quotes, line breaks and commas unchanged', async () => {
  await insert('1', {
    first_name: 'Zoë "Z"',
    title: 'Head,\nSales',
    departments: ['sales', 'c-suite'],
    organization_employees: 250,
    phone: '+1 415 555 0100',
  });
  const { contacts, rows } = await csvOf();
  expect(contacts).toBe(1);
  expect(rows).toMatchObject([
    {
      source: 'hubspot',
      contact_id: '1',
      first_name: 'Zoë "Z"',
      title: 'Head,\nSales',
      departments: 'sales; c-suite',
      organization_employees: '250',
      phone: '+1 415 555 0100',
      last_name: '',
      enriched_at: '2026-11-20T02:00:00Z',
    },
  ]);
  expect(Object.keys(rows[0]!)).toEqual([...contactColumns]);
});

it.each(['=HYPERLINK("http://x")', '\r=1', '＝1+1'])(
  'exportTable() puts an apostrophe before a CSV cell that a spreadsheet takes for a formula: %j',
  async (title) => {
    await insert('1', { title });
    expect((await csvOf()).rows[0]!['title']).toBe(`'${title}`);
  },
);

it('exportTable() selects contacts by source, run and cursor of the change feed', async () => {
  await insert('a');
  await insert('b', { run_id: "run-'2" });
  await insert('c', { source: "o'brien" });
  await insert('d');
  await warehouse.query`
    insert into enrichment.changes (operation, source, contact_id, field_groups)
    values ('upsert', 'hubspot', 'd', '{}')`;
  expect(await idsOf({ runId: "run-'2" })).toEqual(['b']);
  expect(await idsOf({ source: "o'brien" })).toEqual(['c']);
  expect(await idsOf({ since: '0' })).toEqual(['d']);
  expect(await idsOf({})).toEqual(['a', 'b', 'd', 'c']);
});

it('exportTable() leaves out people on the suppression list by e-mail, id, profile or domain', async () => {
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
  await addToSuppressionList(
    warehouse,
    'email:bo@orbit.example',
    'person:p1',
    'profile:linkedin.com/in/cy-ek',
    'profile:linkedin.com/in/josé-ruiz',
    'domain:acme.example',
  );
  expect(await idsOf({})).toEqual(['kept']);
});

it('exportTable() leaves out people with a suppressed e-mail that only an old answer or another row has', async () => {
  const { runId } = await stagedRun(warehouse, [{ keys: ['email:cy@home.example'] }, { keys: [] }]);
  for (const rowNumber of [1, 2])
    await appendContact(warehouse, { contactId: `cy-${rowNumber}`, runId, rowNumber, person: { id: 'cy' } });
  for (const [contactId, former] of [
    ['bo', 'bo@former.example'],
    ['kept', 'di@listed.example'],
  ] as const) {
    const person = { id: contactId, email: former };
    await appendContact(warehouse, { contactId, runId, rowNumber: 2, person });
    const now = { ...person, email: `${contactId}@orbit.example` };
    const askedAt = '2026-11-21T08:00:00Z';
    await appendContact(warehouse, { contactId, runId, rowNumber: 2, person: now, askedAt });
  }
  const keys = ['email:cy@home.example', 'email:bo@former.example', 'domain:listed.example'];
  await addToSuppressionList(warehouse, ...keys);
  expect(await idsOf({})).toEqual(['kept']);
});
