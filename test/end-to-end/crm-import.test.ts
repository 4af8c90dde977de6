import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportManifest } from '../../src/export/crm-import/import-manifest.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile({ latency: 20, worker: true });

const germanHeaders = {
  'Record ID': 'Datensatz-ID',
  'First Name': 'Vorname',
  'Last Name': 'Nachname',
  Email: 'E-Mail',
  'Job Title': 'Jobtitel',
};

async function exportFor(...flags: readonly string[]): Promise<ImportManifest> {
  const ended = await system.here(['export', '--for', 'hubspot', '--json', ...flags]);
  expect(ended).toMatchObject({ code: 0 });
  return JSON.parse(ended.stdout) as ImportManifest;
}

describe('enrich export --for hubspot', () => {
  it('enrich export --for hubspot writes the same bytes again, in German, and continues after its cursor', async () => {
    const file = system.sample(20);
    const german = Object.entries(germanHeaders).reduce(
      (text, [label, local]) => text.replace(label, local),
      readFileSync(file, 'utf8'),
    );
    writeFileSync(file, german);
    const run = (await system.here(['run', file, '--yes', '--json'])).facts();
    const folder = join(system.directory, 'again');
    const first = await exportFor('--run', run.run_id, '--output', folder);
    const second = await exportFor('--run', run.run_id, '--output', folder);
    expect(second).toEqual(first);
    const columns = new Set(second.parts.flatMap((part) => part.columns));
    expect(columns).toContain('Datensatz-ID');
    expect(columns).toContain('Jobtitel');
    expect(Object.keys(germanHeaders).filter((label) => columns.has(label))).toEqual([]);
    const rest = await exportFor('--since', second.cursor ?? '', '--output', join(system.directory, 'rest'));
    expect(rest.contacts).toBe(0);
    const zoho = join(system.directory, 'zoho');
    expect(await system.here(['export', '--for', 'zoho', '--output', zoho])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('nothing to import: source "zoho"'),
    });
    expect(
      await system.here(['export', '--for', 'zoho', '--run', run.run_id, '--output', zoho]),
    ).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/of the source hubspot[^]*--for hubspot/),
    });
  });

  it('enrich export --for hubspot refuses other files, S3, and unknown policies and importers', async () => {
    const folder = system.directory;
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    for (const [flags, where] of [
      [['--for', 'hubspot', '--output', folder], 'has files that enrich export did not write'],
      [['--for', 'hubspot', '--output', join(folder, 'x'), '--policy', 'title=always'], 'is not a policy'],
      [['--for', 'outlook', '--output', join(folder, 'x')], 'no importer'],
      [['--for', 'hubspot'], '--output'],
      [['--for', 'hubspot', '--output', 's3://lake/import'], 'a folder of this machine'],
      [['--policy', 'title=fill', '--output', join(folder, 'x.csv')], 'add the importer'],
    ] as const) {
      expect(await system.here(['export', ...flags])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(where),
      });
    }
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('mine');
  });
});
