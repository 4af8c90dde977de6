import { expect, it } from 'vitest';
import { describeReconciliation } from '../../../src/cli/run/describe-reconciliation.ts';

const cycle = {
  cycle_start: null,
  cycle_end: null,
  from: new Date('2026-11-24T08:00:00Z'),
  to: new Date('2026-11-24T09:00:00Z'),
  billed: '1419',
  settled: '1352',
  held: '70',
  unknown: '70',
  unexplained: '0',
};

it('a reconciliation says how many of the held credits the service has billed', () => {
  expect(describeReconciliation(cycle)).toMatch(
    /Unexplained: 0\. So it has billed 67 of the held credits\.$/,
  );
  expect(describeReconciliation({ ...cycle, billed: '1430', unexplained: '8' })).toContain(
    'billed 70 of the held',
  );
});

it.each([
  ['as much as is settled', { billed: '1352' }],
  ['less than is settled', { billed: '1300', unexplained: '-52' }],
  ['more than is settled while nothing is held', { held: '0', unknown: '0', unexplained: '67' }],
])('a reconciliation names no billed part of the held credits if the service billed %s', (_, figures) => {
  expect(describeReconciliation({ ...cycle, ...figures })).not.toContain('of the held');
});
