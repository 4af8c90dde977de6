import { describe, expect, it } from 'vitest';
import { isDate, parseMoment } from '../../../src/domain/text/format.ts';

describe('a moment', () => {
  it.each([
    ['2026-11-21T02:00:00Z', '2026-11-21T02:00:00.000Z'],
    ['2026-11-21T02:00:00.250+01:00', '2026-11-21T01:00:00.250Z'],
    ['2026-11-21T02:00-0500', '2026-11-21T07:00:00.000Z'],
    ['2026-11-21 02:00:00z', '2026-11-21T02:00:00.000Z'],
  ])('the moment %s is read', (text, moment) => expect(parseMoment(text)?.toISOString()).toBe(moment));

  it.each([
    '2026-11-21T02:00:00',
    '2026-11-21',
    'yesterday',
    '2026-02-30T02:00:00Z',
    '2026-11-21T25:00:00Z',
    '',
  ])('"%s" is no moment, because a time without a zone differs by machine', (text) =>
    expect(parseMoment(text)).toBeUndefined(),
  );
});

it.each([
  ['2026-11-21', true],
  ['2028-02-29', true],
  ['2026-02-29', false],
  ['2026-11-21T00:00:00Z', false],
  ['21.11.2026', false],
])('a date is read: %s: %s', (text, is) => expect(isDate(text)).toBe(is));
