import { sql } from 'kysely';
import { parquetReadObjects } from 'hyparquet';
import { buffer, text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { exportNextPart, type PartsFolder } from '../../../src/export/export-parts.ts';
import { exportTable } from '../../../src/export/export-table.ts';
import { newestCursor, pruneChanges } from '../../../src/people/change-feed.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList } from '../../helpers/warehouse/rows.ts';
import { writeMatch, titleFacts, writeContact } from '../../helpers/warehouse/write-facts.ts';

const warehouse = await warehouseOfFile();

type Row = Record<string, unknown>;

/** A folder in memory. `fails` makes the next write of the manifest fail, as a killed process would. */
function folderOf(files = new Map<string, Buffer>()) {
  const state = { fails: false };
  const folder: PartsFolder = {
    shown: 'parts/',
    read: (name) => Promise.resolve(files.get(name)?.toString()),
    write: async (bytes, name) => {
      if (state.fails && name === 'manifest.json') throw new Error('killed');
      files.set(name, await buffer(bytes));
    },
  };
  return { folder, files, state };
}

async function rowsOf(bytes: Buffer): Promise<Row[]> {
  return parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
}

/** The contacts after loading all parts: the newest change of each contact, without deleted contacts. */
async function replicaOf(files: ReadonlyMap<string, Buffer>): Promise<Row[]> {
  const contacts = new Map<unknown, Row>();
  for (const [name, bytes] of [...files].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    if (name !== 'manifest.json') for (const row of await rowsOf(bytes)) contacts.set(row['contact_id'], row);
  return [...contacts.values()]
    .filter(({ operation }) => operation === 'upsert')
    .map(({ contact_id: id, title }) => ({ id, title }))
    .toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1));
}

const warehouseRows = async (): Promise<Row[]> =>
  await warehouse.query<Row>`select contact_id as id, title from enriched_contacts order by 1`;

const write = (person: string, title: string, askedAt: string): Promise<void> =>
  writeContact(warehouse, { person, askedAt, runId: 'run-1', facts: titleFacts(title) });

it('exportNextPart() writes all contacts in the first part, and then only changed and deleted contacts', async () => {
  const { folder, files, state } = folderOf();
  expect(await exportNextPart(warehouse, folder)).toEqual({ cursor: null, parts: [] });
  for (const contact of ['a', 'b', 'c']) await write(contact, 'Analyst', '2026-01-01');
  const first = await exportNextPart(warehouse, folder);
  expect(first.parts).toMatchObject([{ rows: 3, since: null }]);
  expect(await exportNextPart(warehouse, folder)).toEqual(first);

  await write('a', 'Lead', '2026-02-01');
  await writeMatch(warehouse, { contactId: 'b', person: null, at: '2026-02-01', runId: 'run-2' });
  state.fails = true;
  await expect(exportNextPart(warehouse, folder)).rejects.toThrow('killed');
  state.fails = false;
  await write('d', 'Buyer', '2026-03-01');
  const second = await exportNextPart(warehouse, folder);
  expect(second.parts.map(({ rows }) => rows)).toEqual([3, 3]);
  expect(files.size).toBe(4);
  const part = await rowsOf(files.get(second.parts[1]!.file)!);
  expect(part.find(({ contact_id: id }) => id === 'b')).toMatchObject({
    operation: 'delete',
    source: 'hubspot',
  });
  expect(await replicaOf(files)).toEqual(await warehouseRows());
  expect(await exportNextPart(warehouse, folder)).toEqual(second);
});

it('exportNextPart() needs a new folder, with every contact, after retention has removed changes', async () => {
  const behind = folderOf();
  await exportNextPart(warehouse, behind.folder);
  await write('e', 'Analyst', '2026-01-01');
  await write('f', 'Analyst', '2026-01-01');
  await pruneChanges(warehouse, sql<Date>`now() + interval '1 minute'`, AbortSignal.timeout(60_000));
  await expect(exportNextPart(warehouse, behind.folder)).rejects.toMatchObject({
    type: 'changes.cursor-too-old',
  });
  const { folder, files } = folderOf();
  await exportNextPart(warehouse, folder);
  expect(await replicaOf(files)).toEqual(await warehouseRows());
});

it('exportTable() of the table changes leaves out suppressed contacts and keeps deletions', async () => {
  const cursor = await newestCursor(warehouse.database);
  await write('g', 'Analyst', '2026-01-01');
  await write('h', 'Analyst', '2026-01-01');
  await writeMatch(warehouse, { contactId: 'h', person: null, at: '2026-02-01', runId: 'run-2' });
  await addToSuppressionList(warehouse, 'person:g');
  let lines = '';
  await exportTable(
    warehouse,
    { table: 'changes', format: 'jsonl', choice: { since: cursor }, select: ['contact_id', 'operation'] },
    async (bytes) => {
      lines = await text(bytes);
    },
  );
  expect(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row),
  ).toEqual([{ contact_id: 'h', operation: 'delete' }]);
});

it('exportNextPart() refuses a folder with a manifest of another program', async () => {
  const { folder } = folderOf(new Map([['manifest.json', Buffer.from('{"files":[]}')]]));
  await expect(exportNextPart(warehouse, folder)).rejects.toMatchObject({ type: 'output.not-empty' });
});
