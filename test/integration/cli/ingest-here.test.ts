import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ingestHere } from '../../../src/cli/run/plan-export.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';
import { testSpec } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

it('ingestHere() names the file and row of a fault apart from the fault, as --json prints them', async () => {
  const folder = temporaryFolder(onTestFinished);
  const filePath = join(folder, 'unclosed.csv');
  const content = 'email,first_name\nmira@nordlys.example,Mira\n"ola@nordlys.example,Ola\n';
  writeFileSync(filePath, content);
  const fileSha256 = createHash('sha256').update(content).digest('hex');
  const { run } = await findOrBeginRun(warehouse, { ...testSpec(), filePath, fileSha256 });
  const config = { exportAccess: { stagingDirectory: join(folder, 'staging') } };
  const session = { warehouse, config } as unknown as Parameters<typeof ingestHere>[0];
  await expect(ingestHere(session, run.runId, undefined)).rejects.toMatchObject({
    type: expect.stringMatching(/^export\./) as string,
    message: expect.not.stringContaining('unclosed.csv') as string,
    where: expect.stringMatching(/unclosed\.csv, (?:line|row) \d/) as string,
    exitCode: 2,
  });
});
