import type { Client } from '@temporalio/client';
import { formatLimit, parseCredits } from '../../domain/money/decimal.ts';
import {
  readBudgetHistory,
  readBudgets,
  currentBudgetId,
  setBudget,
  type WantedLimit,
} from '../../ledger/credit-ledger.ts';
import { withWarehouse, withSession, readSettings } from '../session/session.ts';
import { Command, toNote, type CommonFlags } from '../terminal/command.ts';
import { formatRecords, print, printJson, printProgress } from '../terminal/output.ts';
import type { Config } from '../../config/settings.ts';
import { budgetChangedSignalName } from '../../contract/temporal-names.ts';
import {
  budgetNameForms,
  budgetIdOfRun,
  parseBudgetName,
  budgetPeriodNames,
  type BudgetName,
} from '../../domain/money/budget-periods.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import type { Warehouse } from '../../db/database.ts';
import { getRun, runsWaitingForBudget } from '../../runs/runs.ts';
import { isWorkflowGone } from '../../temporal/connection.ts';
import { requireUnfinished } from '../run/steer-run.ts';

/** Number of newest periods, runs and changes that `show` prints. */
const shownOfEach = 10;

export function budgetCommand(): Command {
  return new Command('budget')
    .description('Show and change budgets, in credits.')
    .addCommand(showCommand())
    .addCommand(setBudgetCommand())
    .examples('\n  enrich budget show\n  enrich budget set day 800 --reason "trade fair"');
}

function showCommand(): Command {
  return new Command('show')
    .description('Show limits, credits and changes of the newest periods and runs.')
    .json()
    .examples(`
  enrich budget show`)
    .explain(`
"-" as a limit means no limit. "alarms" are the percentages of BUDGET_ALARMS (default: 80%,100%) that settled and
reserved credits have reached.
All changes of limits: enrich sql -c 'select * from budget_changes'`)
    .onWarehouse(async ({ warehouse: { database } }, { json }: CommonFlags) => {
      const budgets = await readBudgets(database, shownOfEach);
      if (json === true) return printJson<'budget-list'>(budgets);
      print(formatRecords(budgets));
      const changes = await readBudgetHistory(database, shownOfEach);
      if (changes.length > 0) print(formatRecords(changes));
    });
}

function setBudgetCommand(): Command {
  return new Command('set')
    .description('Change a limit for all workers at once. Runs that wait for the budget continue.')
    .argument('<budget>', `one of ${budgetNameForms}`)
    .argument('<limit>', 'credits, none, default, or used (settled + reserved credits)')
    .keepNote('kept in the history')
    .json()
    .examples(`
  enrich budget set day 800 --reason "trade fair"
  enrich budget set run:latest 250
  enrich budget set month used            spend nothing more this month`)
    .explain(`
Periods are UTC. A limit that this command sets replaces the setting (MAX_CREDITS_PER_…) and ends with its period;
"default" restores the setting. "run:latest" is the newest run. A limit below the used credits is refused: no budget is
exceeded at any moment.`)
    .action(async (name: string, limit: string, options: CommonFlags) => {
      const config = readSettings();
      const budget = budgetOf(name);
      const wanted = limitOf(limit);
      const { change, waiting } = await withWarehouse(config, async ({ warehouse }) => {
        const { budgetId, ownDefault } = await findBudget(warehouse, budget, config);
        const changed = await setBudget(warehouse.database, budgetId, wanted, ownDefault, toNote(options));
        return { change: changed, waiting: await runsWaitingForBudget(warehouse, changed.budgetId) };
      });
      const { budgetId, before, after } = change;
      const say = options.json === true ? printProgress : print;
      say(`${budgetId}: ${formatLimit(before)} → ${formatLimit(after)}`);
      if (waiting.length > 0)
        await withSession(config, { temporal: true, service: false }, async (session) =>
          signalRuns(await session.temporal(), waiting),
        );
      for (const runId of waiting)
        say(
          `${runId} waits for this budget: a worker continues it; without a worker: enrich resume ${runId}`,
        );
      if (options.json === true) printJson({ budget: budgetId, before, after, waiting_runs: waiting });
    });
}

/** Tells running workflows that a budget has changed. Runs without an open workflow are skipped. */
async function signalRuns(client: Client, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds)
    await client.workflow
      .getHandle(runId)
      .signal(budgetChangedSignalName)
      .catch((error: unknown) => {
        if (!isWorkflowGone(error)) throw error;
      });
}

/** Finds the id of a budget, and the limit that `default` restores. @throws Problem if its run or period has ended */
async function findBudget(warehouse: Warehouse, budget: BudgetName, config: Config) {
  if (budget.kind === 'run') {
    const run = await getRun(warehouse, budget.runId);
    requireUnfinished(run);
    const { maxCredits } = run.options;
    return {
      budgetId: budgetIdOfRun(run.runId),
      ownDefault: maxCredits === null ? undefined : parseCredits(maxCredits),
    };
  }
  const present = await currentBudgetId(warehouse.database, budget.period);
  const budgetId = budget.name === undefined ? present : `${budget.period}:${budget.name}`;
  // Budget ids such as day:2026-11-21 sort by time, so a smaller id of the same period has ended.
  if (budgetId < present)
    throw wrong(`the period ${budgetId} is over`, `write ${budgetPeriodNames.join(' or ')}`);
  return { budgetId, ownDefault: config.budgets.perPeriod[budget.period] };
}

function budgetOf(text: string): BudgetName {
  const budget = parseBudgetName(text);
  if (budget === undefined)
    throw wrong(`"${text}" is not a budget`, `write ${budgetNameForms} or run:latest`);
  return budget;
}

function limitOf(text: string): WantedLimit {
  if (text === 'none' || text === 'default' || text === 'used') return text;
  const credits = parseCredits(text);
  if (credits !== undefined) return credits;
  throw wrong(`"${text}" is not a limit`, 'write credits such as 500 or 12.5, or none, default or used');
}

function wrong(what: string, next: string): Problem {
  return new UsageProblem('setting.invalid', what, { where: 'enrich budget set', next });
}
