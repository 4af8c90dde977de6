import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import {
  defineSchedule,
  type ScheduleDefinition,
  type ScheduleFlags,
} from '../../../src/cli/schedule/schedule-definition.ts';
import { unsetOptions } from '../../helpers/warehouse/rows.ts';

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

it('defineSchedule() reads all flags of a schedule; paths are relative to the current folder', async () => {
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

it.each<[string, Given, string]>([
  ['a cron line of six fields', { ...ofFile, cron: '0 0 2 * * *' }, '--cron'],
  ['a cron line with a day of the month and a day of the week', { ...ofFile, cron: '0 2 1 * mon' }, '--cron'],
  ['a time zone that does not exist', { ...ofFile, timezone: 'Berlin' }, '--timezone'],
  ['a file and a pattern for the export', { ...ofFile, newest: '*.csv' }, 'FILE'],
  ['a schedule without an export', {}, 'FILE'],
  ['a wildcard in a folder name', { newest: '*/c.csv' }, '*/c.csv'],
  ['a path that names a person', { file: 'mira@nordlys.example.csv' }, 'FILE'],
  ['a query that names a person', { query: "select 'mira@nordlys.example'" }, '--query'],
  ['a text in place of a number', { ...ofFile, maxCredits: 'lots' }, '--max-credits'],
  ['a schedule name with a space', { ...ofFile, name: 'a b' }, 'NAME'],
])('defineSchedule() refuses %s', async (_what, given, where) => {
  await expect(define(given)).rejects.toMatchObject({
    exitCode: 2,
    where: expect.stringContaining(where) as string,
  });
});

it('defineSchedule() refuses a schedule without a limit on credits, except with --no-budget', async () => {
  await expect(define(ofFile, false)).rejects.toMatchObject({ type: 'credits.no-ceiling' });
  await expect(define({ ...ofFile, maxCredits: '5' }, false)).resolves.toBeDefined();
  await expect(define({ ...ofFile, budget: false }, false)).resolves.toBeDefined();
});
