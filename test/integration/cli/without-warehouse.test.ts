import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../helpers/system/run-here.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

it.each([
  'status',
  'resume latest',
  'export',
  'sql --json --command select',
  'erase ada@orbit.example --yes',
])('enrich %s is a usage error in a folder without a warehouse, and creates no warehouse', async (line) => {
  const directory = temporaryFolder(onTestFinished);
  const folder = join(directory, 'elsewhere');
  writeFileSync(join(directory, 'good.csv'), 'email\nmira@nordlys.example\n');
  const environment = { ENRICH_DATA_DIR: folder, DATABASE_URL: '', TEMPORAL_ADDRESS: '' };
  const ended = await runHere(line.split(' '), { environment, directory });
  expect(ended.stderr).toContain('error: there is no warehouse here yet\n');
  expect(ended.stderr).toContain(`  where: ${folder}\n`);
  expect(ended.stderr).toContain('  next:  change to the folder of the runs, or set ENRICH_DATA_DIR');
  expect(ended.code).toBe(2);
  expect(existsSync(folder)).toBe(false);
});
