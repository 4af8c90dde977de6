import { expect, it } from 'vitest';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import { changeRunBudget, resolveBudgetExhaustion } from '../../../src/runs/resolve-budget-exhaustion.ts';
import { presentBudget, setBudget } from '../../../src/ledger/credit-ledger.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { runsAwaitingLateResults, runsWaitingFor, setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';
import { admit } from '../../helpers/warehouse/admit.ts';

const warehouse = await warehouseOfFile({ connections: 5 });
const budgets = {};
const note = { by: 'a test', reason: undefined };

async function wishes(runId: string, onBudget: 'finish' | 'pause'): Promise<void> {
  await warehouse.query`
    update runs set options = jsonb_set(options, '{onBudget}', to_jsonb(${onBudget}::text))
    where run_id = ${runId}`;
}

it('a run with an empty budget of its own ends by default', async () => {
  const runId = await runningRun(warehouse, '0.5');
  expect(await resolveBudgetExhaustion({ warehouse, budgets }, runId)).toEqual({
    kind: 'finish',
    budget: `run:${runId}`,
  });
});

it('a run with an empty budget of its own waits with on-budget pause, and looks again every hour', async () => {
  const runId = await runningRun(warehouse, '0');
  await wishes(runId, 'pause');
  const meeting = await resolveBudgetExhaustion({ warehouse, budgets }, runId);
  expect(meeting).toMatchObject({
    kind: 'wait',
    milliseconds: 3_600_000,
    pauseReason: {
      type: 'budget.empty',
      next: `enrich budget set run:${runId} N`,
      budgets: [`run:${runId}`],
    },
  });
  if (meeting.kind === 'wait') await setRunStatus(warehouse, runId, 'paused', meeting.pauseReason);
  expect(await runsWaitingFor(warehouse, `run:${runId}`)).toEqual([runId]);
  await changeRunBudget({ warehouse, budgets }, { runId, limit: '5' });
  expect(await resolveBudgetExhaustion({ warehouse, budgets }, runId)).toEqual({ kind: 'open' });
});

it('changeRunBudget() keeps a newer limit when Temporal sends an earlier update again after a reset', async () => {
  const runId = await runningRun(warehouse, '5');
  const limitOf = async (): Promise<string | null> => (await readRunFacts(warehouse, runId)).max_credits;
  const update = { runId, limit: '500', updateId: 'first' };
  await changeRunBudget({ warehouse, budgets }, update);
  expect(await limitOf()).toBe('500');
  await setBudget(warehouse.database, `run:${runId}`, wholeCredits(20), undefined, note);
  await changeRunBudget({ warehouse, budgets }, update);
  expect(await limitOf()).toBe('20');
});

it('a run that awaits late results is told of changes of its own budget and of the day', async () => {
  const runId = await runningRun(warehouse, '100');
  const told = async (budgetId: string) =>
    (await runsAwaitingLateResults(warehouse, budgetId)).includes(runId);
  expect(await told(`run:${runId}`)).toBe(false);
  await admit(warehouse.database, { runId, rowNumbers: [1] });
  await warehouse.query`update attempts set status = 'awaiting' where run_id = ${runId}`;
  expect(await told(`run:${runId}`)).toBe(true);
  expect(await told('run:another')).toBe(false);
  expect(await told('day:2026-11-21')).toBe(true);
});

it('a run waits for the next day if the day budget is empty, and ends if its options say so', async () => {
  const runId = await runningRun(warehouse);
  const day = await presentBudget(warehouse.database, 'day');
  await setBudget(warehouse.database, day, 'used', undefined, note);
  const meeting = await resolveBudgetExhaustion({ warehouse, budgets }, runId);
  if (meeting.kind !== 'wait') throw new Error(meeting.kind);
  expect(meeting.pauseReason.reason).toMatch(/^day:.* or at \d{4}-\d{2}-\d{2}T00:00:00.000Z$/);
  expect(meeting.milliseconds).toBeGreaterThan(0);
  // Other runs can release credits of the day before it ends.
  expect(meeting.milliseconds).toBeLessThanOrEqual(3_600_000);
  await wishes(runId, 'finish');
  expect(await resolveBudgetExhaustion({ warehouse, budgets }, runId)).toEqual({
    kind: 'finish',
    budget: day,
  });
  await setBudget(warehouse.database, day, 'default', undefined, note);
});

it('a run stays paused for the reason of another call of its page, whatever the credits', async () => {
  const pauseReason = {
    type: 'match-rate.below',
    reason: 'the match rate has fallen below 40 %',
    next: 'look',
  };
  for (const limit of ['0', '5']) {
    const runId = await runningRun(warehouse, limit);
    await setRunStatus(warehouse, runId, 'paused', pauseReason);
    expect(await resolveBudgetExhaustion({ warehouse, budgets }, runId)).toEqual({
      kind: 'wait',
      milliseconds: null,
      pauseReason,
    });
  }
});
