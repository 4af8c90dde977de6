import { expect, it } from 'vitest';
import { conclusionsOf, describeBill, describeReconciliation } from '../../../src/cli/commands/usage.ts';

const cycle = {
  cycle_start: null,
  cycle_end: null,
  from: new Date('2026-11-24T08:00:00Z'),
  to: new Date('2026-11-24T09:00:00Z'),
  billed: '1419',
  settled: '1352',
  stated: '0',
  held: '70',
  unknown: '70',
  unexplained: '0',
};

it('a reconciliation says how many of the held credits the service has billed, and what to do', () => {
  expect(describeReconciliation(cycle)).toMatch(
    /Unexplained: 0\. So it has billed at most 67 of the held credits: .*enrich attempts settle ATTEMPT --credits N$/,
  );
});

it('a reconciliation says that none of the held credits is billed if the service billed what is settled', () => {
  expect(describeReconciliation({ ...cycle, billed: '1352' })).toMatch(
    /So it has billed none of the held credits: release the unknown calls of this time with enrich attempts release ATTEMPT$/,
  );
});

it('a reconciliation with unexplained credits says that the statement does not tell what is billed', () => {
  const text = describeReconciliation({ ...cycle, billed: '1430', unexplained: '8' });
  expect(text).not.toContain('So it has billed');
  expect(text).toContain('so the statement does not tell how many of the held credits are billed');
});

it.each([
  ['less than is settled', { billed: '1300', unexplained: '-52' }],
  ['more than is settled while nothing is held', { held: '0', unknown: '0', unexplained: '67' }],
])('a reconciliation names no billed part of the held credits if the service billed %s', (_, figures) => {
  expect(describeReconciliation({ ...cycle, ...figures })).not.toContain('of the held');
});

it('a reconciliation says what to do if the service billed less than is settled', () => {
  expect(
    describeReconciliation({ ...cycle, billed: '1300', held: '0', unknown: '0', unexplained: '-52' }),
  ).toMatch(
    /The service has billed 52 credits less than the warehouse has settled: .* Compare again after the next run\.$/,
  );
});

it('a reconciliation names no decision if only late results hold credits', () => {
  expect(describeReconciliation({ ...cycle, unknown: '0' })).toMatch(
    /billed at most 67 of the held credits\.$/,
  );
});

it('a reconciliation says which settled credits the figures of a run have as held', () => {
  const text = describeReconciliation({ ...cycle, settled: '252', stated: '9', held: '342', unknown: '270' });
  expect(text).toContain(
    'settled 252 (with 9 that answers state, and that enrich status counts as reserved or unknown) ' +
      'and holds 342, of which 270',
  );
});

const december = {
  ...cycle,
  cycle_start: '2026-12-01',
  cycle_end: '2026-12-31',
  from: new Date('2026-12-01T02:00:00Z'),
  to: new Date('2026-12-01T03:00:00Z'),
  billed: '1352',
};
const november = { ...cycle, cycle_start: '2026-11-01', cycle_end: '2026-11-30' };

it('the conclusion of a reconciliation names each credit cycle with unknown calls', () => {
  const settled = {
    ...november,
    cycle_start: '2026-10-01',
    cycle_end: '2026-10-31',
    held: '0',
    unknown: '0',
  };
  expect(conclusionsOf([december, november, settled]).split('\n')).toEqual([
    expect.stringMatching(/^2026-12-01 to 2026-12-31: So it has billed none of the held credits: /),
    expect.stringMatching(/^2026-11-01 to 2026-11-30: So it has billed at most 67 of the held credits: /),
  ]);
});

it('describeBill() compares an unknown call with the statements of the credit cycle in which it began', () => {
  const cycles = [december, november];
  const began = (time: string) => ({ admitted_at: new Date(time) });
  expect(describeBill(cycles, [began('2026-11-24T08:30:00Z')])).toEqual([describeReconciliation(november)]);
  expect(describeBill(cycles, [])).toEqual([describeReconciliation(december)]);
  expect(describeBill(cycles, [began('2026-12-01T01:00:00Z'), began('2026-12-01T04:00:00Z')])).toEqual([
    describeReconciliation(december),
    '1 call began after the last statement: enrich usage --reconcile reads a new one',
    '1 call began at a time without statements: see the usage page of the service',
  ]);
});
