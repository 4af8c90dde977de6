import { expect, it } from 'vitest';
import { formatFreshness, freshSecondsIfFound, parseFreshness } from '../../../src/domain/runs/freshness.ts';

const day = 86_400;

it('FRESHNESS takes one duration, or durations by outcome and field', () => {
  expect(parseFreshness('60d')).toEqual({ enrichedSeconds: 60 * day, notFoundSeconds: 60 * day });
  expect(parseFreshness('enriched=90d, phone=180d')).toEqual({
    enrichedSeconds: 90 * day,
    notFoundSeconds: 30 * day,
    phoneSeconds: 180 * day,
  });
  expect(() => parseFreshness('title=1d')).toThrow('there is no kind "title"');
  expect(() => parseFreshness('phone=90d,phone=1d')).toThrow('"phone" has two durations');
  expect(() => parseFreshness('phone=90d=1d')).toThrow('"90d=1d" of "phone" is not a duration');
});

it('formatFreshness() writes FRESHNESS in the form that parseFreshness() reads', () => {
  const setting = 'enriched=90d,not_found=30d,email=60d,phone=180d';
  expect(formatFreshness(parseFreshness(setting))).toBe(setting);
});

it('FRESHNESS sets a time for each group of fields, and a profile is fresh no longer than its e-mail', () => {
  const freshness = parseFreshness('enriched=90d,email=60d,phone=180d');
  const groups = ['profile', 'personal_email', 'waterfall_email', 'phone', 'waterfall_phone'];
  expect(groups.map((group) => freshSecondsIfFound(freshness, group) / day)).toEqual([60, 60, 60, 180, 180]);
  expect(freshSecondsIfFound(parseFreshness('enriched=90d'), 'phone')).toBe(90 * day);
});
