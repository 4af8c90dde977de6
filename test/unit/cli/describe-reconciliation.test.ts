import { expect, it } from 'vitest';
import { conclusionsOf } from '../../../src/cli/commands/usage.ts';

const cycle = {
  cycle_start: '2026-11-01',
  cycle_end: '2026-11-30',
  from: new Date('2026-11-24T08:00:00Z'),
  to: new Date('2026-11-24T09:00:00Z'),
  billed: '1419',
  settled: '1352',
  stated: '0',
  held: '70',
  unknown: '70',
  unexplained: '0',
};

it.each([
  ['a part of the held credits', {}, /billed at most 67 of the held credits: .* settle ATTEMPT --credits N /],
  ['what is settled', { billed: '1352' }, /billed none of the held credits: .* release ATTEMPT /],
  ['more than is explained', { billed: '1430', unexplained: '8' }, /another program may have used credits/],
  ['less than is settled', { billed: '1300', held: '0', unexplained: '-52' }, /billed 52 credits less than/],
])('a reconciliation says what to do if the service billed %s', (_, figures, conclusion) => {
  expect(conclusionsOf([{ ...cycle, ...figures }])).toEqual([expect.stringMatching(conclusion)]);
});

it('a reconciliation concludes for the newest credit cycle, and for each one with unknown calls', () => {
  const october = { ...cycle, cycle_start: '2026-10-01', cycle_end: '2026-10-31', unknown: '0' };
  const named = conclusionsOf([{ ...cycle, cycle_start: '2026-12-01', unknown: '0' }, cycle, october]);
  expect(named).toEqual([expect.stringMatching(/^2026-12-01 to/), expect.stringMatching(/^2026-11-01 to/)]);
  expect(conclusionsOf([{ ...cycle, held: '0', unexplained: '67' }])).toEqual([]);
});
