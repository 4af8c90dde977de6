import { expect, it } from 'vitest';
import { describeChangedOptions } from '../../../src/cli/run/enrich-export.ts';
import { testSpec } from '../../helpers/warehouse/rows.ts';

const { options } = testSpec();
const before = { ...options, pilot: 50, minMatchRate: 0.95 };

it('a command with the options of the run that it continues says nothing about them', () => {
  expect(describeChangedOptions({ runId: 'run-1', waitsForPerson: true }, before, before)).toEqual([]);
});

it('a command with another gate says that the gate changes and that the run stays paused', () => {
  const given = { ...before, minMatchRate: 0.5, maxCostPerEmail: '3' };
  expect(describeChangedOptions({ runId: 'run-1', waitsForPerson: true }, before, given)).toEqual([
    'the run has --min-match-rate 50% from now on, before: --min-match-rate 95%',
    'the run has --max-cost-per-email 3 from now on, before: none',
    'the run stays paused: enrich resume run-1 continues it with these options',
  ]);
});

it('a command without a pilot says that the run keeps the pilot, and how to end the run', () => {
  const given = { ...before, pilot: null };
  expect(describeChangedOptions({ runId: 'run-1', waitsForPerson: false }, before, given)).toEqual([
    'the run keeps --pilot 50: for another value, enrich cancel run-1 first',
  ]);
});
