import { describe, expect, it } from 'vitest';
import { clockIn, dateIn, startOfDay, timeZoneNamed } from '../../../src/domain/text/time-zone.ts';

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

  it.each([
    ['UTC', '2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['Europe/Berlin', '2026-11-21', '2026-11-20T23:00:00.000Z'],
    ['Europe/Berlin', '2026-07-01', '2026-06-30T22:00:00.000Z'],
    ['America/Los_Angeles', '2026-11-21', '2026-11-21T08:00:00.000Z'],
    ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z'],
    ['Asia/Beirut', '2026-10-25', '2026-10-24T22:00:00.000Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-21', '2026-11-20T18:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-21', '2026-11-20T10:00:00.000Z'],
  ])('the time zone %s begins its day %s at %s', (zone, date, start) =>
    expect(startOfDay(zone, date).toISOString()).toBe(start),
  );
});
