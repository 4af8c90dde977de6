import { describe, expect, it } from 'vitest';
import { clockIn, dateIn, startOfDay, timeZoneNamed } from '../../../src/domain/text/time-zone.ts';
import cases from '../../data/text/time-zone.json' with { type: 'json' };

describe('a time zone', () => {
  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['utc', 'UTC'],
    // Another name of the same zone stays.
    ['asia/kolkata', 'Asia/Kolkata'],
    ['Europe/Berlyn', undefined],
    ['', undefined],
  ])('the time zone "%s" is spelt as in the database of time zones: %s', (name, zone) =>
    expect(timeZoneNamed(name)).toBe(zone),
  );

  it('a time zone decides which day it is', () =>
    expect(dateIn('Australia/Sydney', new Date('2026-11-20T15:00:00Z'))).toBe('2026-11-21'));

  it('a time zone shows midnight as the beginning of a day', () =>
    expect(clockIn('Europe/Berlin', new Date('2026-11-20T23:00:00Z'))).toBe('2026-11-21 00:00'));

  it.each(cases.days)('the time zone %s begins its day %s at %s', (zone, date, start) =>
    expect(startOfDay(zone, date).toISOString()).toBe(start),
  );
});
