import { expect, it } from 'vitest';
import { approvalQuestion, describePlan } from '../../../src/cli/run/describe-plan.ts';
import * as run from '../../../src/cli/run/run-status.ts';
import type { PlanSummary } from '../../../src/contract/plan-summary.ts';
import type { RunFacts } from '../../../src/contract/run-facts.ts';
import { exampleFacts, examplePlan } from '../../helpers/outputs/run-facts.ts';
import { testSpec } from '../../helpers/warehouse/rows.ts';

const { options } = testSpec();

const describeRun = (facts: RunFacts): string => run.describeRun({ facts, status: facts.status });

const plan: PlanSummary = {
  ...examplePlan,
  rows: 300,
  dropped: {},
  people: 300,
  calls: 30,
  credits: { minimum: '0', expected: '240', worst_case: '300' },
  expectation: { low: '0', high: '10', calls: 3, assumption: null },
  eta_seconds: 8,
};

it.each([
  [
    'run:r1',
    '120',
    '240',
    'finish',
    /run \(--max-credits\) has 120 left, for about 150 of 300 people: .*over_budget/,
  ],
  ['run:r1', '120', '100', 'pause', /has 120 left, less than the worst case: .*pauses until it is raised/],
  [
    'day:2026-11-21',
    '1200',
    '2400',
    'pause',
    /budget day:2026-11-21 has 1,200 left, for about 150 of 300 people: .*--on-budget finish/,
  ],
  ['day:2026-11-21', '0', '240', 'pause', /has 0 left, for about 0 of 300 people: when it is empty/],
] as const)(
  'a plan warns of a small budget: %s has %s of %s expected credits, and will %s when it is empty',
  (budget, available, expected, on_empty, line) => {
    const credits = { ...plan.credits, expected };
    const text = describePlan({ ...plan, credits, short_budget: { budget, available, on_empty } }, options);
    expect(text.split('\n').at(-1)).toMatch(line);
  },
);

it('the plan of a run shows the flags that set its options', () => {
  const chosen = { ...options, maxCredits: '500', reveal: ['phone'], onUnknown: 'retry' } as const;
  const flags = [...describePlan(plan, chosen).matchAll(/^ +(--\S+) +(.+)$/gm)].map((found) =>
    found.slice(1),
  );
  expect(flags).toEqual([
    ['--max-credits', '500'],
    ['--reveal', 'phone'],
    ['--freshness', 'enriched=1d,not_found=1h'],
    ['--late-deadline', '1d'],
    ['--on-unknown', 'retry'],
  ]);
});

it('the approval question shows the maximum price, or that a plan without calls costs nothing', () => {
  expect(approvalQuestion(plan)).toBe('spend up to 300 credits?');
  const short = { budget: 'run:r1', available: '50', on_empty: 'finish' } as const;
  expect(approvalQuestion({ ...plan, short_budget: short })).toBe('spend up to 50 credits?');
  expect(approvalQuestion({ ...plan, short_budget: { ...short, on_empty: 'pause' } })).toBe(
    'spend up to 300 credits?',
  );
  const free = { ...plan, people: 0, calls: 0, credits: { minimum: '0', expected: '0', worst_case: '0' } };
  expect(approvalQuestion(free)).toBe('run this plan? It makes no call and costs nothing');
});

const facts: RunFacts = {
  ...exampleFacts,
  service: 'https://api.acme.example/api/v1',
  rows: 60,
  outcomes: { enriched: 40, unknown: 20 },
  calls: 6,
  reason_type: 'calls.unknown',
  credits: { settled: '34', reserved: '0', unknown: '20' },
};

it('the summary of a finished run without calls names the commands for its report and filled contacts', () => {
  const filled = { ...exampleFacts, rows: 3, outcomes: { fresh: 3 }, filled: 3 };
  const next = `
  next: enrich report run-1 --output report.html
        enrich export --run run-1 --output enriched-contacts.csv
        enrich export --run run-1 --for hubspot --output import`;
  expect(describeRun(filled).endsWith(next)).toBe(true);
  expect(describeRun({ ...filled, filled: 0 })).not.toContain('next:');
});

it('the summary of a run shows its rows, calls, settled credits, and each outcome that is not zero', () => {
  const figures = describeRun({ ...exampleFacts, rows: 3, outcomes: { fresh: 3, enriched: 0 } });
  expect(figures.match(/^ {2}[a-z_ ]+? {2,}\S+$/gm)).toEqual([
    '  fresh            3',
    '  rows             3',
    '  calls            0',
    '  credits settled  0',
  ]);
});

it('the summary of a run with rows in flight names the docs page that explains such rows', () => {
  const waiting = { ...exampleFacts, rows: 3, outcomes: { in_flight: 3 } };
  expect(describeRun(waiting)).toContain('why rows are in_flight: docs/reference/outcomes.md');
});

it('the summary of a run with calls of unknown cost names the commands that resolve these calls', () => {
  expect(describeRun(facts)).toContain('next: enrich attempts list run-1, then settle or release each');
});

it('the summary of a run says when the next poll is due, and how many late results came by poll', () => {
  const late = { ...facts.late_results, awaited: 2, arrived: 3, polled: 3 };
  const text = describeRun({
    ...facts,
    late_results: { ...late, next_poll_at: '2026-11-22T10:15:00.000Z' },
  });
  expect(text).toContain('the next poll for late results is due at 2026-11-22 10:15 UTC');
  expect(text).toMatch(/of these by poll +3/);
});

it.each([
  ['finished', null, 0],
  ['finished', 'budget.empty', 3],
  ['paused', 'run.paused', 3],
  ['awaiting_approval', null, 3],
  ['failed', 'export.unreachable', 1],
  ['failed', 'export.empty', 2],
  ['cancelled', null, 0],
] as const)(
  'exitCodeOfRun() of a run with the status %s and the reason %s is %i',
  (status, reason_type, code) => {
    expect(run.exitCodeOfRun({ ...exampleFacts, status, reason_type })).toBe(code);
  },
);

it('exitCodeOfRun() of a run whose plan was not approved is 3', () => {
  const cancelled = { at: '2026-11-21T09:30:00.000Z', reason: run.notApprovedReason };
  expect(run.exitCodeOfRun({ ...exampleFacts, status: 'cancelled', cancelled })).toBe(3);
});
