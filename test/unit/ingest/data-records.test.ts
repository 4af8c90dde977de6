import { expect, it } from 'vitest';
import { readDataRecords } from '../../../src/ingest/reading/data-records.ts';
import { openExport } from '../../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../../helpers/export-file.ts';

const file = exportFiles();

it('a line with one cell, held back because it could be a footer, is doubted as any other where a quote in it is', async () => {
  const lines = [
    'First Name,Last Name,Company,Email',
    'Ada,Novak,Orbit,ada@orbit.example',
    // The quote is closed three lines further down, so that two contacts are swallowed.
    '"Orbit" and friends',
    'Ben,Okoro,Acme,',
    'Cy,Dahl,"Helio",,,',
    'Di,Ek,Orbit,di@orbit.example',
  ];
  const opened = await openExport(file(lines.join('\n')), {});
  const doubted: string[] = [];
  let records = 0;
  for await (const batch of readDataRecords(opened, () => {})) {
    records += batch.records.length;
    for (const index of batch.guessed) doubted.push(batch.records[index]![0]!);
  }
  expect(records).toBe(3);
  expect(doubted).toEqual([expect.stringContaining('Ben,Okoro')]);
});
