import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ExportChoice } from '../../../src/contract/run-input.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { parseAddress } from '../../../src/ingest/sources/export-address.ts';
import { requireValidPattern, findExports } from '../../../src/ingest/sources/find-export.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const folder = temporaryFolder();
const night = new Date('2026-11-20T23:30:00Z');

// The files are listed from oldest to newest, although the dates in their names say otherwise.
const names = [
  'crm-2026-11-20.csv',
  'crm-2026-11-19.csv',
  'crm+1.csv',
  'other.csv',
  '.crm-hidden.csv',
  'crm-half.csv.part',
];
for (const [age, name] of names.entries()) {
  writeFileSync(join(folder, name), name);
  utimesSync(join(folder, name), 1_000 + age, 1_000 + age);
}
mkdirSync(join(folder, 'crm-folder.csv'));

async function find(choice: ExportChoice): Promise<string[]> {
  const found = await findExports({ ...choice, from: join(folder, choice.from) }, night, 'Europe/Berlin', {
    s3: { endpoint: undefined },
  });
  return found.map(({ address }) => address.text.slice(folder.length + 1));
}

it('a schedule for the newest file takes the file with the latest modification time', async () => {
  expect(await find({ kind: 'newest', from: 'crm-2*.csv' })).toEqual(['crm-2026-11-19.csv']);
});

it('a schedule for every new file takes all complete matching files, oldest first', async () =>
  expect(await find({ kind: 'every-new', from: 'crm*' })).toEqual([
    'crm-2026-11-20.csv',
    'crm-2026-11-19.csv',
    'crm+1.csv',
  ]));

it('a file with a name that is not UTF-8 is found for a schedule, and refused by name when opened', async () => {
  const name = Buffer.from('latin-caf\u00e9.csv', 'latin1');
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), 'email\n');
  expect(await find({ kind: 'every-new', from: 'latin-*.csv' })).toEqual(['latin-caf\ufffd.csv']);
  await expect(openExport(join(folder, name.toString()), {})).rejects.toMatchObject({
    type: 'export.missing',
  });
});

it('only * and ? are wildcards in the file pattern of a schedule', async () => {
  expect(await find({ kind: 'every-new', from: 'crm+?.csv' })).toEqual(['crm+1.csv']);
  expect(await find({ kind: 'every-new', from: 'crm.1.csv' })).toEqual([]);
});

it('a schedule for one file replaces {date} by the date in the time zone of the schedule', async () =>
  expect(await find({ kind: 'file', from: 'crm-{date}.csv' })).toEqual(['crm-2026-11-21.csv']));

it('a schedule refuses a missing folder, and a wildcard in a folder name', async () => {
  await expect(find({ kind: 'newest', from: 'nowhere/*.csv' })).rejects.toMatchObject({
    type: 'export.folder-unreadable',
  });
  for (const from of ['*/crm.csv', 's3://crm/*/a.csv'])
    expect(() => requireValidPattern(parseAddress(from, '/'))).toThrow(
      expect.objectContaining({ type: 'export.pattern' }),
    );
});
