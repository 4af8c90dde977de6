import { expect, it } from 'vitest';
import { describePlan } from '../../src/cli/describe-run.ts';
import type { PlanSummary } from '../../src/contract.ts';

const plan: PlanSummary = {
  planHash: '3f9c2a',
  rows: 300,
  dropped: {},
  people: 300,
  calls: 30,
  pages: 1,
  credits: { minimum: '0', expected: '240', worstCase: '300' },
  pilot: null,
  asksUnknownAgain: false,
  shortBudget: null,
  rateLimits: '600/hour',
  etaSeconds: 8,
};

it.each([
  ['run:r1', 'finish', 'over_budget'],
  ['run:r1', 'pause', 'pauses until it is raised'],
  ['day:2026-11-21', 'finish', 'over_budget'],
  ['day:2026-11-21', 'pause', 'pauses until it is raised or the next one begins'],
] as const)(
  'says of %s, where it is to %s, what becomes of the people who do not fit',
  (budget, onEmpty, words) => {
    const lines = describePlan({ ...plan, shortBudget: { budget, available: '50', onEmpty } }).split('\n');
    expect(lines.at(-2)).toContain(`does not fit budget ${budget}, which has 50 left`);
    expect(lines.at(-1)).toContain(words);
  },
);
