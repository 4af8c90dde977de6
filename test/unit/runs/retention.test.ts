import { expect, it } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import { parseRetention } from '../../../src/domain/runs/retention.ts';

const day = 86_400;

it('RETENTION sets a time for each kind of data', () => {
  expect(parseRetention('answers=90d, quarantine=365d')).toEqual({
    answers: 90 * day,
    quarantine: 365 * day,
  });
  expect(parseRetention('')).toEqual({});
});

it.each([
  ['quarantine', 'quarantined deliveries'],
  ['rows', 'rows'],
])('RETENTION refuses to keep %s for less than 30 days, while late results may arrive', (kind, what) => {
  expect(parseRetention(`${kind}=30d`)).toEqual({ [kind]: 30 * day });
  expect(() => parseRetention(`${kind}=29d`)).toThrow(`"${kind}=29d" keeps ${what} for less than 30 days`);
});

it('RETENTION refuses to keep rows for a shorter time than staged rows', () => {
  expect(() => parseRetention('staging=90d,rows=35d')).toThrow(
    expect.objectContaining({
      message: '"rows=35d" removes the personal data that "staging=90d" keeps longer',
      next: 'write staging=35d or less, or rows=90d or more',
    }) as Error,
  );
  expect(parseRetention('staging=90d,rows=90d')).toEqual({ staging: 90 * day, rows: 90 * day });
});

it.each([
  ['answers=90d,rows=1x', '"1x" of "rows" is not a duration'],
  ['rows', '"" of "rows" is not a duration'],
  ['rows=30d=40d', '"30d=40d" of "rows" is not a duration'],
  ['rows=30d,rows=40d', '"rows" has two durations'],
])('RETENTION=%s is refused with the part that is wrong', (setting, what) => {
  expect(() => parseRetention(setting)).toThrow(what);
});

it('a wrong FRESHNESS and a wrong RETENTION are refused with a next step for each', () => {
  expect(() => readConfig({ RETENTION: 'runs=1d', FRESHNESS: 'email=3', CALL_TIMEOUT: '0' })).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(
        /FRESHNESS is wrong: "3" of "email" is not a duration; RETENTION is wrong/,
      ),
      next: expect.stringMatching(/for FRESHNESS, write a whole .*; for RETENTION, write kinds/),
    }) as Error,
  );
});
