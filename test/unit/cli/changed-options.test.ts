import { expect, it } from 'vitest';
import { describeChangedOptions } from '../../../src/cli/run/enrich-export.ts';
import { testSpec } from '../../helpers/warehouse/rows.ts';

const { options } = testSpec();
const before = { ...options, pilot: 50, minMatchRate: 0.95 };

it.each([
  ['the same options', {}, []],
  [
    'other gates',
    { minMatchRate: 0.5, maxCostPerEmail: '3' },
    ['from now on, the run has these of this command: --min-match-rate, --max-cost-per-email'],
  ],
  [
    'no pilot',
    { pilot: null },
    ['the run keeps its own: --pilot; to change them, enrich cancel run-1 first'],
  ],
])('a command that continues a run says what becomes of %s', (_, changed, lines) => {
  expect(describeChangedOptions('run-1', before, { ...before, ...changed })).toEqual(lines);
});
