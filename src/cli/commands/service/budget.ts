import { Command, jsonArrayOption, wholeNumber } from '../../terminal/command.ts';
import { minuteOf } from '../../../domain/text/minute-of.ts';
import { budgetNameForms, defaultBudgetNames } from '../../../domain/money/budget-periods.ts';
import { budgetOfRun, parseBudgetName } from '../../../domain/money/budget-name.ts';
import { formatLimit } from '../../../domain/money/format-limit.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { presentBudget } from '../../../ledger/budget-limits.ts';
import { readBudgetHistory, readBudgets, readDefaultBudgets } from '../../../ledger/read-budgets.ts';
import type { Warehouse } from '../../../db/database.ts';
import { getRun } from '../../../runs/runs.ts';
import { setBudgetCommand } from '../../run/budget-change.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

const forms = `${budgetNameForms}, ${defaultBudgetNames.join(', ')}`;

/** Maximum number of days, of months and of runs that `show` lists. */
const shownOfEach = 10;

export function budgetCommand(): Command {
  return new Command('budget')
    .description('Show and change budgets, in credits.')
    .addCommand(showCommand())
    .addCommand(setBudgetCommand())
    .addCommand(historyCommand())
    .explain('\nExamples:\n  enrich budget show\n  enrich budget set day 800 --reason "trade fair"');
}

function showCommand(): Command {
  return withSettings(new Command('show'))
    .description('Show limits, settled and reserved credits of the newest periods and runs.')
    .option(...jsonArrayOption)
    .explain(`
"alarms" are the shares of BUDGET_ALARMS (default: 80%,100%) that settled and reserved credits have reached.

Example:
  enrich budget show`)
    .action(async (options: { json?: boolean }) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const budgets = await readBudgets(warehouse.database, shownOfEach);
        if (options.json === true) return printJson<'budget-list'>(budgets);
        print(
          table([
            ['budget', 'limit', 'set by', 'settled', 'reserved', 'alarms'],
            ...budgets.map((row) => [
              row.budget,
              formatLimit(row.limit, 'none'),
              row.limit === null && row.set_by !== 'command' ? '-' : row.set_by,
              formatNumber(row.settled),
              formatNumber(row.reserved),
              row.alarms.map((percent) => `${percent}%`).join(' '),
            ]),
          ]),
        );
        for (const { period, limit } of await readDefaultBudgets(warehouse.database))
          print(`  every new ${period}: ${formatLimit(limit)} (set by command)`);
      });
    });
}

function historyCommand(): Command {
  return withSettings(new Command('history'))
    .description('Show changes of limits, the newest first.')
    .argument('[budget]', `changes of this budget: ${forms}`)
    .option(...jsonArrayOption)
    .option('--limit <n>', 'maximum number of changes', wholeNumber(1, 10_000), 50)
    .explain('\nExample:\n  enrich budget history day')
    .action(async (name: string | undefined, options: { json?: boolean; limit: number }) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const budgetIds = name === undefined ? undefined : await budgetIdsOf(warehouse, name);
        const changes = await readBudgetHistory(warehouse.database, budgetIds, options.limit);
        if (options.json === true) return printJson(changes);
        if (changes.length === 0) return print('no limit was changed');
        print(
          table([
            ['when (UTC)', 'budget', 'from', 'to', 'by', 'why'],
            ...changes.map((change) => [
              minuteOf(change.changed_at),
              change.budget,
              formatLimit(change.old_limit, 'none'),
              formatLimit(change.new_limit, 'none'),
              change.changed_by,
              change.reason ?? '',
            ]),
          ]),
        );
      });
    });
}

/** The current period also has the changes of its default, which replace its limit. */
async function budgetIdsOf(warehouse: Warehouse, name: string): Promise<string[]> {
  if (defaultBudgetNames.some((each) => each === name)) return [name];
  const budget = parseBudgetName(name);
  if (budget?.kind === 'run') return [budgetOfRun((await getRun(warehouse, budget.runId)).runId)];
  if (budget?.name !== undefined) return [name];
  if (budget) return [await presentBudget(warehouse.database, budget.period), `every-${budget.period}`];
  throw new UsageProblem('setting.invalid', `"${name}" is no budget`, {
    where: 'enrich budget history',
    next: `write ${forms}`,
  });
}
