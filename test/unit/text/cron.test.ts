import { describe, expect, it } from 'vitest';
import { cronMistake, skippedTimes } from '../../../src/domain/text/cron.ts';
import cases from '../../data/text/cron.json' with { type: 'json' };

it.each(cases.accepted)('a cron line is accepted: %s', (line) => expect(cronMistake(line)).toBeUndefined());

it.each(cases.refused)('a cron line is refused with the wrong field: %s', (line, mistake) =>
  expect(cronMistake(line)).toContain(mistake),
);

it('a cron line with a day of the month and a day of the week is refused as ambiguous', () =>
  expect(cronMistake('0 2 1 * mon')).toContain('write * for one of the two'));

describe('skippedTimes()', () => {
  const now = new Date('2026-11-22T12:00:00Z');

  it.each(cases.skipped)('skippedTimes() names the night that %s in %s skips: %s', (line, zone, date) => {
    const skipped = skippedTimes(line, zone, now);
    expect(skipped.map((text) => /on (\S+):/.exec(text)?.[1])).toEqual([date]);
  });

  it.each(cases.notSkipped)(
    'skippedTimes() returns nothing for %s in %s, which skips nothing',
    (line, zone) => expect(skippedTimes(line, zone, now)).toEqual([]),
  );

  it('skippedTimes() names the times between which the clocks change', () =>
    expect(skippedTimes('0 2 * * *', 'Europe/Berlin', now)[0]).toContain(
      'at 02:00 clocks in Europe/Berlin go from 02:00 to 03:00',
    ));
});
