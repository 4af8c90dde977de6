import { beforeEach, describe, expect, it } from 'vitest';
import { creditsFromWhole, type Credits } from '../../../src/domain/money/decimal.ts';
import {
  currentBudgetId,
  setBudget,
  readBudgetHistory,
  readBudgets,
  applyBudgetLimits,
  openBudgetsOfRun,
  readPeriodBudgets,
  recordWorkerBudgets,
  reserveCredits,
  type BudgetLimits,
} from '../../../src/ledger/credit-ledger.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 10 });

const tenADay: BudgetLimits = { day: creditsFromWhole(10) };
const note = { by: 'mira', reason: 'trade fair' };

beforeEach(() => warehouse.query`truncate budgets, worker_budgets, budget_changes, budget_alarms`);

/** Reserves one credit for each person. @returns how many people the budgets afford */
async function spend(people: number, alarmsAt?: readonly number[]): Promise<number> {
  const budgetIds = await openBudgetsOfRun(warehouse.database, undefined);
  const { people: affordable } = await warehouse.database
    .transaction()
    .execute((transaction) => reserveCredits(transaction, budgetIds, creditsFromWhole(1), people, alarmsAt));
  return affordable;
}

function setDay(limit: Parameters<typeof setBudget>[2], ownDefault?: Credits) {
  return currentBudgetId(warehouse.database, 'day').then((day) =>
    setBudget(warehouse.database, day, limit, ownDefault, note),
  );
}

it('a new day budget takes the limit of the worker that started last', async () => {
  await recordWorkerBudgets(warehouse.database, { day: creditsFromWhole(50) });
  await recordWorkerBudgets(warehouse.database, tenADay);
  const day = (await readPeriodBudgets(warehouse.database)).find(({ period }) => period === 'day');
  expect(day?.limit).toBe('10');
  expect(await spend(100)).toBe(10);
});

it(`enrich budget set replaces the limit of the worker, and "default" restores the worker's limit`, async () => {
  await recordWorkerBudgets(warehouse.database, tenADay);
  await setDay(creditsFromWhole(20));
  expect(await spend(100)).toBe(20);
  await warehouse.query`truncate budgets`;
  await setDay(creditsFromWhole(20));
  await setDay('default', creditsFromWhole(50));
  expect(await spend(100)).toBe(10);
});

it('enrich budget set raises the day budget above the settings of running workers', async () => {
  await applyBudgetLimits(warehouse.database, tenADay);
  expect(await spend(15)).toBe(10);
  await setDay(creditsFromWhole(30));
  expect(await spend(100)).toBe(20);
});

it('enrich budget set "default" restores the default limit, but not below the credits already used', async () => {
  await setDay(creditsFromWhole(30));
  await spend(8);
  expect(await setDay('default', creditsFromWhole(5))).toMatchObject({ before: '30', after: '8' });
  expect(await spend(1)).toBe(0);
  await applyBudgetLimits(warehouse.database, tenADay);
  expect(await spend(100)).toBe(2);
});

it('enrich budget set refuses a limit below used credits, and names the lowest possible limit', async () => {
  await spend(8);
  await expect(setDay(creditsFromWhole(7))).rejects.toMatchObject({
    type: 'budget.below-used',
    message: expect.stringMatching(/^8 credits of budget day:/),
  });
  await setDay('used');
  expect(await spend(1)).toBe(0);
});

it('readBudgets() lists the newest runs first, and says whether a limit comes from run options', async () => {
  const runIds = [await runningRun(warehouse, '5'), await runningRun(warehouse, '5')];
  // The newest run has the smallest id.
  await warehouse.query`
    update runs set created_at = clock_timestamp() - make_interval(mins => array_position(
      array(select run_id from runs where run_id = any(${runIds}) order by run_id), run_id))
    where run_id = any(${runIds})`;
  const [first, last] = runIds.toSorted();
  await setBudget(warehouse.database, `run:${first}`, creditsFromWhole(9), undefined, note);
  const budgets = await readBudgets(warehouse.database, 10);
  expect(budgets.filter(({ budget }) => budget.startsWith('run:'))).toMatchObject([
    { budget: `run:${first}`, limit: '9', set_by: 'command' },
    { budget: `run:${last}`, limit: '5', set_by: 'options' },
  ]);
  expect((await readBudgets(warehouse.database, 1)).map(({ budget }) => budget)).toContain(`run:${first}`);
});

it('the history of budgets records the user, old limit, new limit and reason of each change', async () => {
  await setDay(creditsFromWhole(30));
  await setDay('none');
  expect(await readBudgetHistory(warehouse.database, 10)).toMatchObject([
    { old_limit: '30', new_limit: null, changed_by: 'mira', reason: 'trade fair' },
    { old_limit: null, new_limit: '30', changed_by: 'mira', reason: 'trade fair' },
  ]);
});

describe('budget alarms', () => {
  const alarmed = [50, 80, 100];

  beforeEach(() => applyBudgetLimits(warehouse.database, tenADay));

  async function percents(): Promise<number[]> {
    const rows = await warehouse.query<{ percent: number }>`
      select percent from budget_alarms order by crossed_at desc, percent desc`;
    return rows.map((alarm) => alarm.percent);
  }

  it('a budget alarm is raised once for each threshold that is crossed', async () => {
    await spend(4, alarmed);
    expect(await percents()).toEqual([]);
    await spend(2, alarmed);
    await spend(2, alarmed);
    await spend(1, alarmed);
    expect(await percents()).toEqual([80, 50]);
  });

  it('a budget that crosses several thresholds at once raises only the highest alarm', async () => {
    await spend(10, alarmed);
    expect(await percents()).toEqual([100]);
    await warehouse.query`update budgets set settled = 0, reserved = 0`;
    await spend(6, alarmed);
    expect(await percents()).toEqual([100]);
  });

  it('a budget alarm of 100 % is raised if the budget has too few credits for the next person', async () => {
    const budgetIds = await openBudgetsOfRun(warehouse.database, undefined);
    await warehouse.database
      .transaction()
      .execute((transaction) => reserveCredits(transaction, budgetIds, creditsFromWhole(9), 2, alarmed));
    expect(await percents()).toEqual([100]);
  });

  it('after its limit changed, a budget raises an alarm again, and shows only alarms of the new limit', async () => {
    await spend(8, alarmed);
    await setDay(creditsFromWhole(20));
    expect((await readBudgets(warehouse.database, 10))[0]).toMatchObject({ limit: '20', alarms: [] });
    await spend(8, alarmed);
    expect((await readBudgets(warehouse.database, 10))[0]).toMatchObject({
      set_by: 'command',
      alarms: [80],
    });
  });
});
