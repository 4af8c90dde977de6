import { expect, it } from 'vitest';
import { waitsForOperator } from '../../../src/cli/run/enrich-export.ts';
import type { RunRecord } from '../../../src/runs/runs.ts';

function paused(type: 'run.paused' | 'run.interrupted', isApproved: boolean): RunRecord {
  return { status: 'paused', pauseReason: { type, reason: 'why', next: 'how' }, isApproved } as RunRecord;
}

it.each([
  ['run.paused', true, true, true],
  ['run.paused', true, false, true],
  // An operator has begun an unapproved run on a terminal, and can still approve the run.
  ['run.paused', false, false, true],
  ['run.paused', false, true, false],
  ['run.interrupted', true, false, false],
  ['run.interrupted', false, false, false],
] as const)(
  'a repeated command waits for the operator (paused by %s, approved: %s, on a terminal: %s): %s',
  (type, isApproved, asks, waits) => {
    expect(waitsForOperator(paused(type, isApproved), asks)).toBe(waits);
  },
);
