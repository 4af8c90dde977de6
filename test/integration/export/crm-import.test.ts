import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { defaultPolicies } from '../../../src/domain/crm/field-policy.ts';
import { exportForCrm } from '../../../src/export/crm-import/export-for-crm.ts';
import type { ImportManifest } from '../../../src/export/crm-import/import-manifest.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const parent = temporaryFolder();

beforeEach(() =>
  warehouse.pool.query(
    `truncate runs, run_rows, people, person_keys,
       contact_records, contact_keys, contact_matches, observation_log, suppression_entries cascade`,
  ),
);

const header = ['Record ID', 'Job Title', 'Phone Number', 'Last Modified Date'];

interface ExportRow {
  readonly title: string;
  readonly modified?: string;
  /** The cells were removed. */
  readonly isCleared?: boolean;
  readonly optedOut?: boolean;
  readonly optedOutOfCalls?: boolean;
  /** Of another row of the same person. */
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
    await warehouse.pool.query('update run_rows set raw = $3 where run_id = $1 and row_number = $2', [
      runId,
      index + 1,
      JSON.stringify(isCleared === true ? [] : [contactId, title, '', modified]),
    ]);
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
): Promise<{ readonly manifest: ImportManifest; readonly updates: readonly string[] }> {
  const folder = join(parent, 'hubspot');
  const manifest = await exportForCrm(warehouse, {
    importer: 'hubspot',
    folder,
    source: undefined,
    runId: undefined,
    since: undefined,
    policies: { ...defaultPolicies, ...policies },
  });
  const updates = manifest.parts.flatMap(({ file }) =>
    readFileSync(join(folder, file), 'utf8').split('\r\n').slice(1, -1),
  );
  return { manifest, updates };
}

it('exportForCrm() compares with no older export if retention has cleared the newest export', async () => {
  await enriched(await exported({ title: '' }));
  await exported({ title: 'CEO', isCleared: true });
  const { manifest, updates } = await importOf();
  expect(updates).toEqual([]);
  expect(manifest).toMatchObject({ contacts: 1, without_cells: 1 });
  expect(Object.keys(manifest.decisions).toSorted()).toEqual(['cells removed', 'nothing known']);
});

it.each([[{ optedOut: true }], [{ outcome: 'suppressed' }]] as const)(
  'exportForCrm() leaves out contacts that have %j in the newest export, in every file',
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
  'exportForCrm() compares with the newest other export, and has its labels, after a run that was %s',
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
