import { expect, it } from 'vitest';
import type { PauseReason, StatusReason } from '../../../src/contract/pause-reasons.ts';
import type { RunStatus } from '../../../src/contract/run-transitions.ts';
import { pauseCalls } from '../../../src/ledger/admit.ts';
import { approveRun, getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

const byHand: PauseReason = { type: 'run.paused', reason: 'budget review', next: 'enrich resume RUN' };
const cancelled: StatusReason = { type: 'run.cancelled', reason: 'wrong file', next: 'enrich cancel RUN' };
const emptyBudget: PauseReason = { type: 'budget.empty', reason: 'no credits', next: '', budgets: ['day:x'] };
const unmet: PauseReason = { type: 'expectation.unmet', reason: 'half of the rows', next: '' };

async function runIn(status: RunStatus, why?: StatusReason): Promise<string> {
  const { runId } = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, runId, status, why);
  return runId;
}

async function statusAfter(runId: string, status: RunStatus, why?: StatusReason): Promise<string> {
  await setRunStatus(warehouse, runId, status, why);
  const run = await getRun(warehouse, runId);
  return run.pauseReason === null ? run.status : `${run.status}: ${run.pauseReason.type}`;
}

it('a cancelled run keeps the reason and time of its first cancellation', async () => {
  const runId = await runIn('cancelling', cancelled);
  const { at } = (await readRunFacts(warehouse, runId)).cancelled!;
  await setRunStatus(warehouse, runId, 'cancelling', { ...cancelled, reason: 'enrich cancel' });
  await endRun(warehouse, runId, 'cancelled', undefined);
  expect(await readRunFacts(warehouse, runId)).toMatchObject({
    status: 'cancelled',
    reason: null,
    cancelled: { at, reason: 'wrong file' },
  });
});

it.each(['pilot.done', 'match-rate.below', 'expectation.unmet', 'service.overbilled'] as const)(
  'setRunStatus() keeps the pause %s when a reset restarts the workflow, until the operator resumes the run',
  async (type) => {
    const runId = await runIn('paused', { type, reason: '', next: '' });
    expect(await statusAfter(runId, 'running')).toBe(`paused: ${type}`);
    expect(await statusAfter(runId, 'paused', emptyBudget)).toBe(`paused: ${type}`);
    await setRunStatus(warehouse, runId, 'running', undefined, { byOperator: true });
    expect(await getRun(warehouse, runId)).toMatchObject({ status: 'running', pauseReason: null });
  },
);

const unapproved = async (status: RunStatus, why?: StatusReason): Promise<string> => {
  const runId = await runIn(status, why);
  await warehouse.query`update enrichment.runs set approved_at = null where run_id = ${runId}`;
  return runId;
};

it('setRunStatus() sets a run without an approval to awaiting_approval instead of running', async () => {
  const runId = await unapproved('planning');
  expect(await statusAfter(runId, 'running')).toBe('awaiting_approval');
  await approveRun(warehouse, runId);
  expect(await statusAfter(runId, 'running')).toBe('running');
});

it('approveRun() keeps the time of the first approval, and refuses a run that has ended', async () => {
  const runId = await unapproved('running');
  const approvedAt = async () => {
    await approveRun(warehouse, runId);
    return warehouse.query`select approved_at from enrichment.runs where run_id = ${runId}`;
  };
  const first = await approvedAt();
  expect(await approvedAt()).toEqual(first);
  const ended = await unapproved('finished');
  await approveRun(warehouse, ended);
  expect(await getRun(warehouse, ended)).toMatchObject({ isApproved: false });
});

it('setRunStatus() ends a budget pause when the workflow continues', async () => {
  expect(await statusAfter(await runIn('paused', emptyBudget), 'running')).toBe('running');
});

it('pauseCalls() keeps the status of a run that the operator has cancelled or paused', async () => {
  for (const [status, why] of [
    ['cancelling', cancelled],
    ['paused', byHand],
  ] as const) {
    const runId = await runIn(status, why);
    await pauseCalls(warehouse.database, runId, unmet);
    expect(await getRun(warehouse, runId)).toMatchObject({ status, pauseReason: { type: why.type } });
  }
});

it('setRunStatus() keeps a newer pause when Temporal repeats an earlier resume after a reset', async () => {
  const runId = await runIn('paused', byHand);
  const resume = { byOperator: true, updateId: 'first' };
  await setRunStatus(warehouse, runId, 'running', undefined, resume);
  expect(await getRun(warehouse, runId)).toMatchObject({ status: 'running' });
  await setRunStatus(warehouse, runId, 'paused', unmet, { updateId: 'second' });
  await setRunStatus(warehouse, runId, 'running', undefined, resume);
  expect(await getRun(warehouse, runId)).toMatchObject({ status: 'paused', pauseReason: unmet });
  await setRunStatus(warehouse, runId, 'running', undefined, { byOperator: true, updateId: 'third' });
  expect(await getRun(warehouse, runId)).toMatchObject({ status: 'running' });
});
