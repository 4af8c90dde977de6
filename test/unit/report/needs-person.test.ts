import { describe, expect, it } from 'vitest';
import { needsPerson } from '../../../src/report/needs-person.ts';
import { reportWith } from '../../helpers/report.ts';

const quiet = reportWith({
  outcomes: { enriched: 1 },
  calls: { ...reportWith().calls, by_status: { settled: 1 } },
});

describe('what needs a person', () => {
  it('is nothing after a run that went well', () => {
    expect(needsPerson(quiet)).toEqual([]);
  });

  it('is the reason of a paused run first, with its own next step', () => {
    const run = { ...quiet.run, status: 'paused', reason: 'the key was refused', next: 'set another key' };
    expect(needsPerson({ ...quiet, run })[0]).toEqual({
      what: 'The run is paused: the key was refused.',
      next: 'set another key',
    });
  });

  it.each([
    ['unknown calls', { calls: { ...quiet.calls, by_status: { unknown: 2 } } }, 'enrich attempts list'],
    ['rows over budget', { outcomes: { over_budget: 1 } }, 'raise the budget'],
    [
      'unreadable deliveries',
      { late_results: { ...quiet.late_results, quarantined: 1 } },
      '--status quarantined',
    ],
    ['deliveries for nobody', { late_results: { ...quiet.late_results, orphaned: 1 } }, '--status orphaned'],
    [
      'late results that are overdue',
      { calls: { ...quiet.calls, by_status: { awaiting: 1 } } },
      'enrich inbox sweep',
    ],
  ])('names the command for %s', (_, differing, command) => {
    const [action] = needsPerson({ ...quiet, ...differing });
    expect(action?.next).toContain(command);
  });
});
