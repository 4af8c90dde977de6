import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  changesTo,
  describeChanges,
  readScheduleFile,
  type ScheduleDefinition,
} from '../../../src/cli/schedule/schedule-definition.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';
import { unsetOptions } from '../../helpers/warehouse/unset-options.ts';

const folder = temporaryFolder();

function read(content: string, hasBudget = true) {
  const path = join(folder, 'crm.yaml');
  writeFileSync(path, content);
  return readScheduleFile(path, { hasBudget });
}

/** One schedule, with further lines of YAML. */
function schedule(name: string, ...lines: readonly string[]): string {
  const keys = ['cron: 0 2 * * *', 'file: contacts.csv', ...lines];
  return `  ${name}:\n${keys.map((line) => `    ${line}\n`).join('')}`;
}

describe('a schedule file', () => {
  it('a schedule file is read with the flags as keys; paths are relative to its folder', async () => {
    const { group, schedules } = await read(`
schedules:
  nightly:
    cron: 0 2 * * *
    timezone: Europe/Berlin
    newest: exports/hubspot-*.csv
    max-credits: 500
    freshness: 30d
    reveal: phone
    overlap: buffer-one
    catch-up: 2h
    pause-on-failure: true
`);
    expect(group).toBe('crm');
    expect(schedules).toEqual([
      {
        name: 'nightly',
        cron: '0 2 * * *',
        timezone: 'Europe/Berlin',
        overlap: 'buffer-one',
        catchUpSeconds: 7_200,
        pauseOnFailure: true,
        work: {
          ...unsetOptions,
          group: 'crm',
          export: { kind: 'newest', from: join(folder, 'exports/hubspot-*.csv') },
          reveal: ['phone'],
          maxCredits: '500',
          noBudget: false,
          freshness: { enrichedSeconds: 2_592_000, notFoundSeconds: 2_592_000 },
        },
      },
    ] satisfies ScheduleDefinition[]);
  });

  it('a schedule file without a catch-up has the shortest of Temporal, so that it shows no difference', async () => {
    const { schedules } = await read(`schedules:\n${schedule('a', 'catch-up: 0s')}`);
    expect(schedules[0]).toMatchObject({ catchUpSeconds: 10 });
  });

  it.each([
    ['a key that does not exist', schedule('a', 'max-credit: 5'), 'a: max-credit'],
    ['a cron line of six fields', '  a: { cron: 0 0 2 * * *, file: c.csv }\n', 'a: cron'],
    ['a day of the month and of the week', '  a: { cron: 0 2 1 * mon, file: c.csv }\n', 'a: cron'],
    ['no cron line', '  a: { file: c.csv }\n', 'a: cron'],
    ['a time zone that does not exist', schedule('a', 'timezone: Berlin'), 'a: timezone'],
    ['two sources', schedule('a', 'newest: "*.csv"'), 'a: file'],
    ['no source', '  a: { cron: "@daily" }\n', 'a: file'],
    ['a pattern for folders', '  a: { cron: "@daily", newest: "*/c.csv" }\n', '*/c.csv'],
    ['a path that names a person', '  a: { cron: "@daily", file: mira@nordlys.example.csv }\n', 'a: file'],
    ['a number that is none', schedule('a', 'max-credits: lots'), 'a: max-credits'],
    ['an overlap policy that does not exist', schedule('a', 'overlap: all'), 'a: overlap'],
    ['a name with a blank', schedule('a b'), 'a b: name'],
  ])('a schedule file is refused with the line: %s', async (_what, content, where) => {
    await expect(read(`schedules:\n${content}`)).rejects.toMatchObject({
      exitCode: 2,
      where: expect.stringContaining(where) as string,
    });
  });

  it('a schedule of rows of the database is refused if its mapping file names an encoding', async () => {
    writeFileSync(join(folder, 'rows.yaml'), 'encoding: windows-1251\n');
    const rows = ['cron: 0 2 * * *', 'query: select 1', 'mapping: rows.yaml'];
    const content = `schedules:\n  nightly:\n${rows.map((line) => `    ${line}\n`).join('')}`;
    await expect(read(content)).rejects.toMatchObject({
      message: expect.stringContaining('have no encoding') as string,
      next: 'remove it from the mapping file',
    });
  });

  it('a schedule file is refused if nothing limits the credits, except with no-budget', async () => {
    await expect(read(`schedules:\n${schedule('a')}`, false)).rejects.toMatchObject({
      type: 'credits.no-ceiling',
    });
    await expect(read(`schedules:\n${schedule('a', 'max-credits: 5')}`, false)).resolves.toBeDefined();
    await expect(read(`schedules:\n${schedule('a', 'no-budget: true')}`, false)).resolves.toBeDefined();
  });

  it.each([
    ['schedules: [', /^the schedule file is neither YAML nor JSON: /],
    ['schedule: {}', /^the schedule file is wrong: schedules: /],
    ['schedules:\n  - nightly', /^the schedule file is wrong: schedules: /],
    ['schedules: {}\ngruop: a', /^the schedule file is wrong: Unrecognized key: "gruop"$/],
    ['email,first_name\nmira@nordlys.example,Mira', /^the schedule file is wrong: .* expected object/],
  ])('a schedule file is refused with the reason: %j', (content, message) =>
    expect(read(content)).rejects.toMatchObject({
      type: 'schedule.file',
      exitCode: 2,
      where: join(folder, 'crm.yaml'),
      message: expect.stringMatching(message) as string,
    }),
  );
});

describe('the difference between a file and what is there', () => {
  it('the difference creates missing schedules, changes others, and deletes only those of its group', async () => {
    const before = await read(`schedules:\n${schedule('same')}${schedule('changed')}${schedule('gone')}`);
    const byHand = await read(`group: other\nschedules:\n${schedule('by-hand')}`);
    const after = await read(
      `schedules:\n${schedule('same')}${schedule('changed', 'max-credits: 5')}${schedule('fresh')}`,
    );
    const changes = changesTo(after, [...before.schedules, ...byHand.schedules]);
    expect(describeChanges(changes).split('\n')).toEqual([
      '+ fresh',
      '    cron: 0 2 * * *',
      '    timezone: UTC',
      `    file: ${join(folder, 'contacts.csv')}`,
      '    overlap: skip',
      '    catch-up: 1h',
      '    group: crm',
      '~ changed',
      '    max-credits: not set → 5',
      '- gone',
    ]);
  });

  it('the difference shows that a schedule of another origin becomes one of this file', async () => {
    const other = await read(`group: other\nschedules:\n${schedule('nightly')}`);
    const mine = await read(`schedules:\n${schedule('nightly')}`);
    expect(changesTo(mine, other.schedules).update[0]?.changes).toEqual(['group: other → crm']);
  });
});
