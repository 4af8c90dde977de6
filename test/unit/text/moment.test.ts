import { describe, expect, it } from 'vitest';
import { isDate, parseMoment } from '../../../src/domain/text/format.ts';
import cases from '../../data/text/moment.json' with { type: 'json' };

describe('a moment', () => {
  it.each([
    ['2026-11-21T02:00:00Z', '2026-11-21T02:00:00.000Z'],
    ['2026-11-21T02:00:00.250+01:00', '2026-11-21T01:00:00.250Z'],
    ['2026-11-21T02:00-0500', '2026-11-21T07:00:00.000Z'],
    ['2026-11-21 02:00:00z', '2026-11-21T02:00:00.000Z'],
  ])('the moment %s is read', (text, moment) => expect(parseMoment(text)?.toISOString()).toBe(moment));

  it.each(cases.noMoments)('"%s" is no moment, because a time without a zone differs by machine', (text) =>
    expect(parseMoment(text)).toBeUndefined(),
  );
});

it.each(cases.dates as [string, boolean][])('a date is read: %s: %s', (text, is) =>
  expect(isDate(text)).toBe(is),
);
