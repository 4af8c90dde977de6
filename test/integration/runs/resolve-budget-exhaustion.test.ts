import { expect, it } from 'vitest';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { resolveBudgetExhaustion } from '../../../src/runs/resolve-budget-exhaustion.ts';
import { currentBudgetId, setBudget } from '../../../src/ledger/credit-ledger.ts';
import { runsWaitingForBudget, setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { runningRun, testNote } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 5 });

async function wishes(runId: string, onBudget: 'finish' | 'pause'): Promise<void> {
  await warehouse.query`
    update runs set options = jsonb_set(options, '{onBudget}', to_jsonb(${onBudget}::text))
    where run_id = ${runId}`;
}

it('a run ends by default when its own budget is used up', async () => {
  const runId = await runningRun(warehouse, '0.5');
  expect(await resolveBudgetExhaustion(warehouse, runId)).toEqual({
    kind: 'finish',
    budget: `run:${runId}`,
  });
});

it('a run with --on-budget pause waits when its own budget is used up, and checks again every hour', async () => {
  const runId = await runningRun(warehouse, '0');
  await wishes(runId, 'pause');
  const meeting = await resolveBudgetExhaustion(warehouse, runId);
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
  expect(await runsWaitingForBudget(warehouse, `run:${runId}`)).toEqual([runId]);
  await setBudget(warehouse.database, `run:${runId}`, creditsFromWhole(5), undefined, testNote);
  expect(await resolveBudgetExhaustion(warehouse, runId)).toEqual({ kind: 'open' });
});

it('a run waits for the next day when the day budget is used up, or ends with --on-budget finish', async () => {
  const runId = await runningRun(warehouse);
  const day = await currentBudgetId(warehouse.database, 'day');
  await setBudget(warehouse.database, day, 'used', undefined, testNote);
  const meeting = await resolveBudgetExhaustion(warehouse, runId);
  if (meeting.kind !== 'wait') throw new Error(meeting.kind);
  expect(meeting.pauseReason.reason).toMatch(/^day:.* at \d{4}-\d{2}-\d{2}T00:00:00.000Z at the latest$/);
  expect(meeting.milliseconds).toBeGreaterThan(0);
  // Other runs can release credits of the day before it ends.
  expect(meeting.milliseconds).toBeLessThanOrEqual(3_600_000);
  await wishes(runId, 'finish');
  expect(await resolveBudgetExhaustion(warehouse, runId)).toEqual({
    kind: 'finish',
    budget: day,
  });
  await setBudget(warehouse.database, day, 'default', undefined, testNote);
});

it('resolveBudgetExhaustion() keeps the pause of a quality gate, with and without credits left', async () => {
  const pauseReason = {
    type: 'match-rate.below',
    reason: 'the match rate has fallen below 40 %',
    next: 'look',
  };
  for (const limit of ['0', '5']) {
    const runId = await runningRun(warehouse, limit);
    await setRunStatus(warehouse, runId, 'paused', pauseReason);
    expect(await resolveBudgetExhaustion(warehouse, runId)).toEqual({
      kind: 'wait',
      milliseconds: null,
      pauseReason,
    });
  }
});
