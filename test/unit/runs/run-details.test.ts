import { expect, it } from 'vitest';
import type { RunFacts } from '../../../src/contract/run-facts.ts';
import { outcomes } from '../../../src/domain/runs/outcome.ts';
import type { RunProgress } from '../../../workflows/run-details.ts';
import * as details from '../../../workflows/run-details.ts';
import { runWaitOf } from '../../../workflows/run-details.ts';
import { examplePlan } from '../../helpers/outputs/run-facts.ts';
import { ScriptedActivities, nothingAwaited } from '../../helpers/temporal/scripted-activities.ts';

const runDetails = (shown: RunProgress): string => details.runDetails(shown).replaceAll('\u00a0', ' ');

const facts = new ScriptedActivities().facts('run-1');

const progress: RunProgress = {
  runId: 'run-1',
  status: 'running',
  waitsFor: null,
  page: 1,
  pages: 2,
  plan: examplePlan,
  service: null,
  figures: null,
  late: null,
};

const withFacts = (changed: Partial<RunFacts>): string =>
  runDetails({
    ...progress,
    figures: { facts: { ...facts, ...changed }, readAt: '2026-11-22T06:24:55.515Z' },
  });

it('runDetails() shows the rows of each outcome, the rows without an outcome, and all rows', () => {
  const counts = Object.fromEntries([...outcomes, 'open'].map((name, index) => [name, index + 1]));
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = withFacts({ rows, outcomes: counts });
  for (const [name, count] of Object.entries(counts)) expect(shown).toContain(`| ${name} | ${count} |`);
  expect(shown).toContain(`| rows | ${rows} |`);
});

it('runDetails() does not count the current page as done', () => {
  const pagesDone = (page: number) => /pages done \| (.*) \|/.exec(runDetails({ ...progress, page }))?.[1];
  expect([0, 1, 2, 3].map(pagesDone)).toEqual(['0 of 2', '0 of 2', '1 of 2', '2 of 2']);
});

it('runDetails() shows why a run is paused and the next step', () => {
  const waitsFor = { type: 'budget.empty', reason: 'day:2026-11-21 has 0 credits left', next: 'raise it' };
  const shown = runDetails({ ...progress, status: 'paused', waitsFor });
  expect(shown).toContain('| **why it waits** | day:2026-11-21 has 0 credits left |');
  expect(shown).toContain('| next | `raise it` |');
});

const waiting = {
  runId: 'run-1',
  status: 'running',
  pauseReason: null,
  plan: examplePlan,
  awaitsLateResults: false,
  pageWait: null,
} as const;

it('runWaitOf() names the full rate window for which the next call waits', () => {
  expect(runWaitOf({ ...waiting, pageWait: 'the rate window of 600/hour is full' })).toEqual({
    type: 'next call',
    reason: 'the next call: the rate window of 600/hour is full',
    next: null,
  });
});

it('runWaitOf() says that a plan waits for approval, and shows its maximum price', () => {
  expect(runWaitOf({ ...waiting, status: 'awaiting_approval' })).toMatchObject({
    type: 'approval',
    reason: 'approval of the plan: at most 1,500 credits',
  });
});

it('runDetails() shows the reason of a run and the next step for the operator', () => {
  const shown = withFacts({ reason: 'the budget had no credits left for 4 rows', next: 'raise the budget' });
  expect(shown).toContain('| **reason** | the budget had no credits left for 4 rows |');
  expect(shown).toContain('| next | `raise the budget` |');
});

it('runDetails() shows the awaited late results and their deadline', () => {
  const late = { ...nothingAwaited, awaited: 3, arrived: 1, until: '2026-11-22T08:00:00.000Z' };
  const waitsFor = runWaitOf({ ...waiting, awaitsLateResults: true, late: { status: late } });
  const shown = runDetails({ ...progress, waitsFor, late });
  expect(shown).toContain('| **why it waits** | late results of 3 calls, until 2026-11-22 08:00:00 UTC |');
  expect(runDetails({ ...progress, late: { ...late, awaited: 0 } })).not.toContain('awaited');
});

it('runDetails() shows when its counts were read', () => {
  const figures = { facts, readAt: '2026-11-22T06:24:55.515Z' };
  expect(runDetails({ ...progress, status: 'paused', figures })).toContain(
    '| figures read at | 2026-11-22 06:24:55 UTC |',
  );
});
