import { randomUUID } from 'node:crypto';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { IngestOutcome } from '../../../src/contract/activities.ts';
import { ingestRun } from '../../../src/runs/ingest-run.ts';
import { parseAddress } from '../../../src/ingest/sources/export-address.ts';
import { obtainExport, type ExportAccess } from '../../../src/ingest/sources/obtain-export.ts';
import type { StagedContent } from '../../../src/ingest/sources/staging-directory.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';
import { testSpec, noSignal } from '../../helpers/warehouse/rows.ts';

let access: ExportAccess;
let content: string;

const warehouse = await warehouseOfFile({ connections: 2 });

beforeEach(() => {
  const folder = temporaryFolder(onTestFinished);
  content = `id,email\n1,${randomUUID()}@orbit.example\n`;
  access = {
    stagingDirectory: join(folder, 'staging'),
    s3: { endpoint: undefined },
    pool: warehouse.pool,
  };
});

/** Stages standard input, as a command does before it begins a run. */
function fetched(): Promise<StagedContent> {
  return obtainExport(parseAddress('-', '/'), { ...access, standardInput: Readable.from([content]) });
}

async function begin(from: StagedContent, kind: { planOnly: boolean }): Promise<string> {
  const { run } = await findOrBeginRun(warehouse, {
    ...testSpec(),
    filePath: '-',
    fileName: 'standard input',
    fileSha256: from.sha256,
    ...kind,
  });
  return run.runId;
}

function ingest(runId: string, from?: StagedContent): Promise<IngestOutcome> {
  return ingestRun({ warehouse, exportAccess: access }, runId, {
    signal: noSignal,
    onProgress: () => {},
    fetched: from?.path,
  });
}

it('two staged downloads of the same content are both removed after the run has read one of them', async () => {
  const first = await fetched();
  const second = await fetched();
  const runId = await begin(first, { planOnly: false });
  await ingest(runId, first);
  expect(await begin(second, { planOnly: false })).toBe(runId);
  expect(await ingest(runId, second)).toMatchObject({ kind: 'ingested', rows: 1 });
  expect(readdirSync(access.stagingDirectory)).toEqual([]);
});

it('a staged file of standard input is kept although the input has sent nothing for two hours', async () => {
  const pipe = new PassThrough();
  const slow = obtainExport(parseAddress('-', '/'), { ...access, standardInput: pipe });
  pipe.write(content);
  const paths = () => readdirSync(access.stagingDirectory).map((name) => join(access.stagingDirectory, name));
  await expect.poll(() => paths().map((path) => statSync(path).size)).toEqual([content.length]);
  const before = Date.now() / 1_000 - 7_200;
  for (const path of paths()) utimesSync(path, before, before);
  const other = await fetched();
  await ingest(await begin(other, { planOnly: true }), other);
  pipe.end('2,ben@orbit.example\n');
  await slow;
  expect(paths().map((path) => statSync(path).size)).toEqual([content.length + 20]);
});
