import { formatLimit } from '../../domain/money/decimal.ts';
import { formatNumber, minuteOf } from '../../domain/text/format.ts';
import { readBudgetHistory, readBudgets, readDefaultBudgets } from '../../ledger/read-budgets.ts';
import { setBudgetCommand } from '../run/budget-change.ts';
import { withWarehouse } from '../session/session.ts';
import { settingsOfExisting } from '../session/settings-flags.ts';
import { Command, jsonArrayOption, type JsonFlag } from '../terminal/command.ts';
import { print, printJson, table } from '../terminal/output.ts';

/** Maximum number of days, of months, of runs and of changes that `show` lists. */
const shownOfEach = 10;

/** `enrich budget`: limits of credits. */
export function budgetCommand(): Command {
  return new Command('budget')
    .description('Show and change budgets, in credits.')
    .addCommand(showCommand())
    .addCommand(setBudgetCommand())
    .explain('\nExamples:\n  enrich budget show\n  enrich budget set day 800 --reason "trade fair"');
}

function showCommand(): Command {
  return new Command('show')
    .description('Show limits, credits and changes of the newest periods and runs.')
    .option(...jsonArrayOption)
    .explain(`
"alarms" are the shares of BUDGET_ALARMS (default: 80%,100%) that settled and reserved credits have reached.
All changes of limits: enrich sql -c 'select * from budget_changes'

Example:
  enrich budget show`)
    .action(async (options: JsonFlag) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse: { database } }) => {
        const budgets = await readBudgets(database, shownOfEach);
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
        for (const { period, limit } of await readDefaultBudgets(database))
          print(`  every new ${period}: ${formatLimit(limit)} (set by command)`);
        const changes = await readBudgetHistory(database, shownOfEach);
        if (changes.length === 0) return;
        print(
          table([
            ['changed (UTC)', 'budget', 'from', 'to', 'by', 'why'],
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
