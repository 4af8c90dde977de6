import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import {
  defineSchedule,
  differences,
  type ScheduleDefinition,
  type ScheduleFlags,
} from '../../../src/cli/schedule/schedule-definition.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';
import { unsetOptions } from '../../helpers/warehouse/unset-options.ts';

const folder = temporaryFolder();

interface Given extends Partial<ScheduleFlags> {
  readonly name?: string;
  readonly file?: string;
  readonly maxCredits?: string;
  readonly mapping?: string;
}

function define({ name = 'nightly', file, ...flags }: Given, hasBudget = true): Promise<ScheduleDefinition> {
  return defineSchedule(name, file, { cron: '0 2 * * *', ...flags }, hasBudget);
}

const ofFile = { file: 'contacts.csv' };

it('defineSchedule() reads the flags of a schedule and of its runs; paths are relative to this folder', async () => {
  const given = {
    cron: '0 2 * * *',
    timezone: 'Europe/Berlin',
    newest: 'exports/hubspot-*.csv',
    maxCredits: '500',
    freshness: '30d',
    reveal: ['phone'],
    overlap: 'buffer-one',
    catchUp: '2h',
    pauseOnFailure: true,
  } as const;
  expect(await define(given)).toEqual({
    name: 'nightly',
    cron: '0 2 * * *',
    timezone: 'Europe/Berlin',
    overlap: 'buffer-one',
    catchUpSeconds: 7_200,
    pauseOnFailure: true,
    work: {
      ...unsetOptions,
      export: { kind: 'newest', from: resolve('exports/hubspot-*.csv') },
      reveal: ['phone'],
      maxCredits: '500',
      noBudget: false,
      freshness: { enrichedSeconds: 2_592_000, notFoundSeconds: 2_592_000 },
    },
  } satisfies ScheduleDefinition);
});

it('defineSchedule() raises a catch-up to the shortest of Temporal, so that it shows no difference', async () => {
  expect(await define({ ...ofFile, catchUp: '0s' })).toMatchObject({ catchUpSeconds: 10 });
});

it.each<[string, Given, string]>([
  ['a cron line of six fields', { ...ofFile, cron: '0 0 2 * * *' }, '--cron'],
  ['a day of the month and of the week', { ...ofFile, cron: '0 2 1 * mon' }, '--cron'],
  ['a time zone that does not exist', { ...ofFile, timezone: 'Berlin' }, '--timezone'],
  ['two sources', { ...ofFile, newest: '*.csv' }, 'FILE'],
  ['no source', {}, 'FILE'],
  ['a pattern for folders', { newest: '*/c.csv' }, '*/c.csv'],
  ['a path that names a person', { file: 'mira@nordlys.example.csv' }, 'FILE'],
  ['a query that names a person', { query: "select 'mira@nordlys.example'" }, '--query'],
  ['a number that is none', { ...ofFile, maxCredits: 'lots' }, '--max-credits'],
  ['a name with a blank', { ...ofFile, name: 'a b' }, 'NAME'],
])('defineSchedule() refuses %s', async (_what, given, where) => {
  await expect(define(given)).rejects.toMatchObject({
    exitCode: 2,
    where: expect.stringContaining(where) as string,
  });
});

it('defineSchedule() refuses rows of the database if the mapping file names an encoding', async () => {
  const mapping = join(folder, 'rows.yaml');
  writeFileSync(mapping, 'encoding: windows-1251\n');
  await expect(define({ query: 'select 1', mapping })).rejects.toMatchObject({
    message: expect.stringContaining('have no encoding') as string,
    next: 'remove it from the mapping file',
  });
});

it('defineSchedule() refuses a schedule if nothing limits the credits, except with --no-budget', async () => {
  await expect(define(ofFile, false)).rejects.toMatchObject({ type: 'credits.no-ceiling' });
  await expect(define({ ...ofFile, maxCredits: '5' }, false)).resolves.toBeDefined();
  await expect(define({ ...ofFile, budget: false }, false)).resolves.toBeDefined();
});

it('differences() has a line for each flag that differs', async () => {
  const [before, after] = [
    await define(ofFile),
    await define({ ...ofFile, maxCredits: '5', cron: '@daily' }),
  ];
  expect(differences(before, after)).toEqual(['cron: 0 2 * * * → @daily', 'max-credits: not set → 5']);
  expect(differences(before, before)).toEqual([]);
});
