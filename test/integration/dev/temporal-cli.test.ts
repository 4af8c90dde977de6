import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { ensureTemporalCli, findTemporalCli, temporalCliVersion } from '../../../src/dev/temporal-cli.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

let home: string;

beforeEach(() => {
  home = temporaryFolder(onTestFinished);
});

/** A program that answers `--version` as the Temporal CLI does. */
function program(path: string, version: string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho temporal version ${version}\n`, { mode: 0o755 });
  return file;
}

const settings = (temporalCliPath?: string) => ({
  temporalCliPath,
  cacheDirectory: join(home, 'cache'),
  searchPath: join(home, 'bin'),
});

it('the Temporal CLI comes from TEMPORAL_CLI_PATH, then from the PATH, then from the cache', async () => {
  program(`cache/temporal-cli-${temporalCliVersion}/temporal`, 'cached');
  expect(await findTemporalCli(settings())).toMatchObject({ origin: 'cache', version: 'cached' });
  program('bin/temporal', 'installed');
  expect(await findTemporalCli(settings())).toMatchObject({ origin: 'PATH', version: 'installed' });
  const configured = program('mine', 'mine');
  expect(await findTemporalCli(settings(configured))).toMatchObject({
    origin: 'TEMPORAL_CLI_PATH',
    path: configured,
  });
});

it('the Temporal CLI comes from no other location if TEMPORAL_CLI_PATH is wrong', async () => {
  program('bin/temporal', 'installed');
  const wrong = findTemporalCli(settings(join(home, 'nothing')));
  await expect(wrong).rejects.toMatchObject({ type: 'temporal.cli', where: 'TEMPORAL_CLI_PATH' });
});

it('the Temporal CLI is not another program of that name', async () => {
  writeFileSync(program('bin/temporal', 'x'), '#!/bin/sh\nexit 1\n');
  expect(await findTemporalCli(settings())).toBeUndefined();
});

it('the Temporal CLI gets no credential when it is asked for its version', async () => {
  vi.stubEnv('ENRICHMENT_API_KEY', 'canary');
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(
    program('bin/temporal', 'x'),
    '#!/bin/sh\necho "temporal version of $ENRICHMENT_API_KEY$HOME"\n',
  );
  expect((await findTemporalCli(settings()))?.version).toBe(`of ${process.env['HOME']}`);
});

it('the search for the Temporal CLI ends with the first one found', async () => {
  program('bin/temporal', 'installed');
  const steps: string[] = [];
  await ensureTemporalCli(settings(), (text) => steps.push(text));
  expect(steps).toEqual([]);
});
