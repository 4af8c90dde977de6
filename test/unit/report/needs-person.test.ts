import { describe, expect, it } from 'vitest';
import { needsPerson } from '../../../src/report/gather.ts';
import { neededDecisions } from '../../../src/runs/read-run-facts.ts';
import { reportWith } from '../../helpers/outputs/report.ts';

const quiet = reportWith({
  outcomes: { enriched: 1 },
  calls: { ...reportWith().calls, by_status: { settled: 1 } },
});

describe('what needs a person', () => {
  it('needsPerson() begins with the reason and next step of a paused run', () => {
    const run = {
      ...quiet.run,
      status: 'paused' as const,
      reason: 'the key was refused',
      next: 'set another key',
    };
    expect(needsPerson({ ...quiet, run }, [])[0]).toEqual({
      what: 'The run is paused: the key was refused.',
      next: 'set another key',
    });
  });

  it.each([
    [
      'a plan that awaits approval',
      { run: { ...quiet.run, status: 'awaiting_approval' as const, reason: null } },
      'enrich approve ',
    ],
    [
      'unreadable deliveries',
      { late_results: { ...quiet.late_results, quarantined: 1 } },
      '--status quarantined',
    ],
  ])('needsPerson() names the command for %s', (_, differing, command) => {
    const [action] = needsPerson({ ...quiet, ...differing }, []);
    expect(action?.next).toContain(command);
  });

  it.each([
    ['unknown calls', {}, '18', 'enrich attempts list run-1'],
    ['rows whose answers were lost', { unknown: 3 }, '0', 'run the same command again'],
    ['rows over budget', { over_budget: 1 }, '0', 'raise the budget'],
  ])('needsPerson() ends with a sentence and the next step for %s', (_, outcomes, unknownCredits, next) => {
    const decisions = neededDecisions({ runId: 'run-1', outcomes, unknownCredits });
    expect(needsPerson(quiet, decisions)).toEqual([
      { what: expect.stringMatching(/^The .*\.$/) as string, next: expect.stringContaining(next) as string },
    ]);
  });
});
