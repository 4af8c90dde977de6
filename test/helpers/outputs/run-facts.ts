import type { PlanSummary } from '../../../src/contract/plan-summary.ts';
import type { RunFacts } from '../../../src/contract/run-facts.ts';

/** A plan of 1,500 people. */
export const plan: PlanSummary = {
  planHash: 'hash-1',
  rows: 2_000,
  withEmail: null,
  dropped: { duplicate: 500 },
  filled: 0,
  foundBefore: 0,
  peopleWithoutPhones: 0,
  people: 1_500,
  calls: 150,
  pages: 2,
  credits: { minimum: '0', expected: '1200', worstCase: '1500' },
  expectation: { low: '1000', high: '1400', calls: 0, source: null, assumption: 'assumed' },
  unmet: [],
  pilot: null,
  asksUnknownAgain: false,
  shortBudget: null,
  rateLimits: '600/hour',
  ownRateLimits: '600/hour',
  etaSeconds: 900,
  inPausedRuns: null,
};

/** A finished run without rows and calls. */
export const facts: RunFacts = {
  run_id: 'run-1',
  workflow_id: 'run-1',
  status: 'finished',
  reason_type: null,
  reason: null,
  next: null,
  source: 'hubspot',
  file: 'contacts.csv',
  service: 'sandbox',
  plan_hash: plan.planHash,
  rows: 0,
  outcomes: {},
  filled: 0,
  calls: 0,
  max_credits: null,
  credits: { settled: '0', reserved: '0', unknown: '0' },
  expected_credits: null,
  late_results: {
    awaited: 0,
    arrived: 0,
    polled: 0,
    late: 0,
    expired: 0,
    orphaned: 0,
    next_poll_at: null,
    missing: null,
  },
  cancelled: null,
  undone: null,
};
