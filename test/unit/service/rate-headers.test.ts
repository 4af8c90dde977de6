import { expect, it } from 'vitest';
import { readRateHeaders } from '../../../src/service/rate-headers.ts';

it('readRateHeaders() reads all windows, shortest first', () => {
  expect(
    readRateHeaders({
      'x-rate-limit-24-hour': '6000',
      'x-24-hour-usage': '17',
      'x-24-hour-requests-left': '5983',
      'x-rate-limit-hourly': '600',
      'x-hourly-usage': '600',
      'x-hourly-requests-left': '0',
      'x-rate-limit-minute': '200',
      'x-minute-usage': '1',
      'x-minute-requests-left': '199',
    }),
  ).toEqual([
    { window: 'minute', seconds: 60, limit: 200, used: 1, left: 199 },
    { window: 'hour', seconds: 3_600, limit: 600, used: 600, left: 0 },
    { window: 'day', seconds: 86_400, limit: 6_000, used: 17, left: 5_983 },
  ]);
});

it('readRateHeaders() reads an empty value as unlimited', () => {
  expect(
    readRateHeaders({ 'x-rate-limit-hourly': '', 'x-hourly-usage': '3', 'x-hourly-requests-left': '' }),
  ).toEqual([{ window: 'hour', seconds: 3_600, limit: null, used: 3, left: null }]);
});

it('readRateHeaders() uses the lower number of calls left if a window has two headers', () => {
  const newer = { 'x-rate-limit-24-hour': '', 'x-24-hour-usage': '', 'x-24-hour-requests-left': '' };
  const older = { 'x-rate-limit-daily': '50', 'x-daily-usage': '50', 'x-daily-requests-left': '0' };
  const exhausted = [{ window: 'day', seconds: 86_400, limit: 50, used: 50, left: 0 }];
  expect(readRateHeaders({ ...newer, ...older })).toEqual(exhausted);
  expect(readRateHeaders({ ...older, 'x-rate-limit-24-hour': '6000', 'x-24-hour-usage': '17' })).toEqual(
    exhausted,
  );
});

it.each(['-1', 'many', '1e3', '99999999999999999999', '1, 2'])(
  'readRateHeaders() ignores a count of "%s"',
  (value) => {
    expect(readRateHeaders({ 'x-rate-limit-minute': value })).toEqual([]);
  },
);

it('readRateHeaders() reads a header that a proxy has sent twice, if both values agree', () => {
  expect(
    readRateHeaders({ 'x-rate-limit-minute': ['20', '20'], 'x-minute-requests-left': ['3', '4'] }),
  ).toEqual([{ window: 'minute', seconds: 60, limit: 20, used: undefined, left: undefined }]);
});
