import { describe, expect, it } from 'vitest';
import { cronMistake, skippedTimes } from '../../../src/domain/text/cron.ts';

it.each([
  '0 2 * * *',
  '*/15 1-5 * jan mon-fri',
  '0,30 22 1 * *',
  '0 2 * * 7',
  '0 4 29 2 *',
  '0 4 31 feb,mar *',
  '@daily',
])('a cron line is accepted: %s', (line) => expect(cronMistake(line)).toBeUndefined());

it.each([
  ['0 2 * *', 'has 4 fields'],
  ['nightly', 'has 1 field instead of five'],
  ['0 0 2 * * *', 'has 6 fields'],
  ['60 2 * * *', '"60" as the minute'],
  ['0 24 * * *', '"24" as the hour'],
  ['0 2 0 * *', '"0" as the day of the month'],
  ['0 2 * * mon-sonday', '"mon-sonday" as the day of the week'],
  ['5-1 2 * * *', '"5-1" as the minute'],
  ['*/0 2 * * *', '"*/0" as the minute'],
  ['@every 5m', 'has 2 fields'],
  ['0 4 31 2 *', 'has a day that none of its months has'],
  ['0 4 30-31 feb *', 'has a day that none of its months has'],
  ['0 4 31 4,6,9,11 *', 'has a day that none of its months has'],
])('a cron line is refused with the wrong field: %s', (line, mistake) =>
  expect(cronMistake(line)).toContain(mistake),
);

it('a cron line with a day of the month and a day of the week is refused as ambiguous', () =>
  expect(cronMistake('0 2 1 * mon')).toContain('write * for one of the two'));

describe('skippedTimes()', () => {
  const now = new Date('2026-11-22T12:00:00Z');

  it.each([
    ['0 2 * * *', 'Europe/Berlin', '2027-03-28'],
    ['30 2 * * 0', 'Europe/Berlin', '2027-03-28'],
    ['30 2 * * 7', 'Europe/Berlin', '2027-03-28'],
    ['0 2,14 * * *', 'Europe/Berlin', '2027-03-28'],
    ['15 2 * * *', 'America/New_York', '2027-03-14'],
    ['@daily', 'America/Havana', '2027-03-14'],
    ['15 2 * * *', 'Australia/Lord_Howe', '2027-10-03'],
  ])('skippedTimes() names the night that %s in %s skips: %s', (line, zone, date) => {
    const skipped = skippedTimes(line, zone, now);
    expect(skipped.map((text) => /on (\S+):/.exec(text)?.[1])).toEqual([date]);
  });

  it.each([
    ['0 3 * * *', 'Europe/Berlin'],
    ['0 2 * * mon-fri', 'Europe/Berlin'],
    ['0 2 1 * *', 'Europe/Berlin'],
    ['*/15 * * * *', 'Europe/Berlin'],
    ['@hourly', 'Europe/Berlin'],
    ['0 2 * * *', 'UTC'],
    ['0 2 * * *', 'Asia/Tokyo'],
  ])('skippedTimes() returns nothing for %s in %s, which skips nothing', (line, zone) =>
    expect(skippedTimes(line, zone, now)).toEqual([]),
  );

  it('skippedTimes() names the times between which the clocks change', () =>
    expect(skippedTimes('0 2 * * *', 'Europe/Berlin', now)[0]).toContain(
      'at 02:00 clocks in Europe/Berlin go from 02:00 to 03:00',
    ));
});
