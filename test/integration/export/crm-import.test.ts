import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { defaultPolicies } from '../../../src/domain/crm/field-policy.ts';
import { exportForCrm } from '../../../src/export/crm-import/export-for-crm.ts';
import type { ImportManifest } from '../../../src/export/crm-import/import-manifest.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import type { ImporterName } from '../../../src/domain/crm/crm.ts';
import { importCompanies } from '../../helpers/exports/crm-importers.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList, stagedRun } from '../../helpers/warehouse/rows.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const folder = join(temporaryFolder(), 'import');

beforeEach(
  () =>
    warehouse.query`
    truncate runs, run_rows, people, person_keys,
    contact_records, contact_keys, contact_matches, observation_log, suppression_entries cascade`,
);

const header = ['Record ID', 'Job Title', 'Phone Number', 'Last Modified Date'];

interface ExportRow {
  readonly title: string;
  readonly modified?: string;
  /** The cells were removed. */
  readonly isCleared?: boolean;
  readonly optedOut?: boolean;
  readonly optedOutOfCalls?: boolean;
  /** The row has this outcome because another row of the same person has it. */
  readonly outcome?: 'suppressed';
  readonly contactId?: string;
}

/** An export of HubSpot; the first of them is the oldest. */
async function exported(...rows: readonly ExportRow[]): Promise<string> {
  const { runId } = await stagedRun(
    warehouse,
    rows.map(({ contactId = '4701', ...row }) => ({ ...row, keys: [], contactId })),
  );
  await warehouse.query`update runs set source = 'hubspot', header = ${header} where run_id = ${runId}`;
  for (const [index, { contactId = '4701', title, modified = '', isCleared }] of rows.entries())
    await warehouse.query`
      update run_rows set raw = ${JSON.stringify(isCleared === true ? [] : [contactId, title, '', modified])}
      where run_id = ${runId} and row_number = ${index + 1}`;
  return runId;
}

async function enriched(
  runId: string,
  contactId = '4701',
  said: { readonly person?: Person; readonly askedAt?: string } = {},
): Promise<void> {
  const person = { id: `p${contactId}`, first_name: 'Ada', title: 'CTO', ...said.person };
  const phones = ['+4930123456'];
  await appendContact(warehouse, { ...said, source: 'hubspot', contactId, runId, person, phones });
}

/** The manifest, and the lines of all update files without their headers. */
async function importOf(
  policies: Partial<typeof defaultPolicies> = {},
  importer: ImporterName = 'hubspot',
): Promise<{ readonly manifest: ImportManifest; readonly updates: readonly string[] }> {
  const { manifest } = await exportForCrm(warehouse, {
    importer,
    folder,
    source: 'hubspot',
    runId: undefined,
    since: undefined,
    policies: { ...defaultPolicies, ...policies },
  });
  const updates = manifest.parts.flatMap(({ file }) =>
    readFileSync(join(folder, file), 'utf8').split('\r\n').slice(1, -1),
  );
  return { manifest, updates };
}

it('exportForCrm() updates no contact if retention has removed the cells of the newest export', async () => {
  await enriched(await exported({ title: '' }));
  await exported({ title: 'CEO', isCleared: true });
  const { manifest, updates } = await importOf();
  expect(updates).toEqual([]);
  expect(manifest).toMatchObject({ contacts: 1, without_cells: 1 });
  expect(Object.keys(manifest.decisions).toSorted()).toEqual(['cells removed', 'nothing known']);
});

it.each([[{ optedOut: true }], [{ outcome: 'suppressed' }]] as const)(
  'exportForCrm() writes no update of a contact that has %j in the newest export',
  async (optOut) => {
    await enriched(await exported({ title: '' }));
    await exported({ title: '', ...optOut });
    const { manifest, updates } = await importOf();
    expect(updates).toEqual([]);
    expect(manifest).toMatchObject({ contacts: 0, opted_out: 1, decisions: {} });
    expect(manifest.conflicts).toBeUndefined();
  },
);

it.each([
  ['undone', 'undone_at = now()'],
  ['only planned', `run_key = 'plan ' || run_key`],
  ['a backfill of an older time', `as_of = created_at - interval '1 day'`],
])(
  'exportForCrm() takes cells and column names from the previous export if the newest run was %s',
  async (_, assignment) => {
    await enriched(await exported({ title: 'CEO', modified: '2026-11-30T00:00:00Z' }));
    const ignored = await exported({ title: '', modified: '2026-11-01T00:00:00Z' });
    const labels = ['Datensatz-ID', 'Jobtitel', 'Telefonnummer', 'Letztes Änderungsdatum'];
    await warehouse.pool.query(`update runs set ${assignment}, header = $2 where run_id = $1`, [
      ignored,
      labels,
    ]);
    const { manifest, updates } = await importOf({ title: 'overwrite-older' });
    expect(updates).toEqual(['4701,,+4930123456']);
    expect(manifest.parts[0]!.columns).toEqual(['Record ID', 'Job Title', 'Phone Number']);
  },
);

it('exportForCrm() writes no phone number of a contact that opted out of calls in the newest export', async () => {
  await enriched(await exported({ title: '' }));
  await exported({ title: '', optedOutOfCalls: true });
  const { manifest, updates } = await importOf();
  expect(updates).toEqual(['4701,CTO,']);
  expect(manifest.decisions).toMatchObject({ 'refused: do not call': 1 });
});

it.each([
  ['CEO', ''],
  ['', 'CEO'],
  [' ', 'CEO'],
])(
  'exportForCrm() writes no title if a record has two rows with different titles: "%s" and "%s"',
  async (first, second) => {
    await enriched(await exported({ title: first }, { title: second }));
    const { manifest, updates } = await importOf();
    expect(updates).toEqual(['4701,,+4930123456']);
    expect(manifest.decisions.kept).toBe(1);
  },
);

const acme = { id: 'o1', name: 'Acme', primary_domain: 'www.acme.example', estimated_num_employees: 40 };

/** Contacts 4701, 4702, … with these employers, in one export. */
async function employed(
  organizations: readonly Person['organization'][],
  row: Partial<ExportRow> = {},
): Promise<void> {
  const ids = organizations.map((_, index) => `${4701 + index}`);
  const runId = await exported(...ids.map((contactId) => ({ title: '', contactId, ...row })));
  for (const [index, organization] of organizations.entries())
    await enriched(runId, ids[index], { person: { organization } });
}

it('exportForCrm() writes each company once; importing the file changes no company that the CRM has', async () => {
  await employed([acme, acme, { id: 'o2', name: 'Orbit, Inc.', primary_domain: 'orbit.example' }]);
  const { manifest } = await importOf();
  expect(manifest).toMatchObject({
    companies: [{ file: 'companies-001.csv', rows: 2 }],
    companies_left_out: 0,
  });
  const own = new Map([['acme.example', new Map([['Company name', 'ACME (key account)']])]]);
  const companies = importCompanies('hubspot', folder, own);
  expect(companies.get('acme.example')).toBe(own.get('acme.example'));
  expect(companies.get('orbit.example')!.get('Company name')).toBe('Orbit, Inc.');
  expect(importCompanies('hubspot', folder, new Map()).get('acme.example')!.get('Number of Employees')).toBe(
    '40',
  );
});

it.each([
  ['of free mail', [{ id: 'o1', name: 'Ada Novak', primary_domain: 'gmail.com' }], 1],
  ['that another company has', [acme, { id: 'o2', name: 'Orbit', primary_domain: 'acme.example' }], 2],
])('exportForCrm() leaves out companies with a domain %s', async (_, organizations, leftOut) => {
  await employed(organizations);
  expect((await importOf()).manifest).toMatchObject({ companies: [], companies_left_out: leftOut });
});

it('exportForCrm() for Zoho writes companies by name, and leaves out two companies with the same name', async () => {
  const orbit = { id: 'o2', name: 'Orbit', primary_domain: 'orbit.example' };
  await employed([acme, { ...acme, id: 'o3', name: 'ACME Inc.', primary_domain: 'acme.org' }, orbit]);
  const { manifest } = await importOf({}, 'zoho');
  expect(manifest).toMatchObject({ companies: [{ rows: 1 }], companies_left_out: 2 });
  expect([...importCompanies('zoho', folder, new Map()).keys()]).toEqual(['orbit']);
});

it('exportForCrm() writes one company for two company ids with the same domain and name', async () => {
  await employed([acme, { ...acme, id: 'o9' }]);
  expect((await importOf()).manifest).toMatchObject({ companies: [{ rows: 1 }], companies_left_out: 0 });
});

it('exportForCrm() writes no company of contacts who opted out or are suppressed', async () => {
  await employed([acme], { optedOut: true });
  expect((await importOf()).manifest.companies).toEqual([]);
  await employed([acme]);
  await addToSuppressionList(warehouse, 'person:p4701');
  expect((await importOf()).manifest.companies).toEqual([]);
});

it('exportForCrm() writes no companies for Salesforce, which finds an account only by its id', async () => {
  await employed([acme]);
  const { manifest } = await importOf({}, 'salesforce');
  expect(manifest.companies).toEqual([]);
  expect(manifest.companies_instruction).toBeUndefined();
});
