import { expect, it } from 'vitest';
import { describeProgress } from '../../../src/cli/run/follow-run.ts';
import type { RunStatus } from '../../../src/contract/run-transitions.ts';
import { examplePlan } from '../../helpers/outputs/run-facts.ts';

const money = { people: 120, calls: 12, settled: '104', reserved: '0' };
const full = 'waiting 9s: the window 20/10s is full';

it.each<[string, RunStatus, object, object, string]>([
  ['enriched people, calls and credits', 'running', {}, {}, 'enriching  120/500  12 calls  104 credits'],
  [
    'the time until its last call, and the reason for a wait',
    'running',
    {},
    { reason: full, etaSeconds: 70 },
    `enriching  120/500  ETA 1m 10s  ${full}  12 calls  104 credits`,
  ],
  [
    'the reason for a wait before the run has a plan',
    'ingesting',
    {},
    { reason: 'no worker' },
    'reading the file …  no worker',
  ],
  [
    'reserved credits, and no ETA after all people were looked up',
    'running',
    { people: 500, reserved: '4000' },
    { etaSeconds: 3 },
    'enriching  500/500  12 calls  104 credits, 4,000 reserved',
  ],
])('the progress line of a run shows %s', (_, status, changes, wait, line) => {
  const run = { status, plan: { ...examplePlan, people: 500 } };
  expect(describeProgress(run, { ...money, ...changes }, wait)).toBe(line);
});
