import type { Config } from '../../config/settings.ts';
import { openWarehouse } from '../../db/database.ts';
import { runningPostgres } from '../../dev/postgres.ts';
import { periodNames, settingOfPeriod } from '../../domain/money/budget-periods.ts';
import { formatCredits } from '../../domain/money/decimal.ts';
import { counted } from '../../domain/text/counted.ts';
import { readPeriodBudgets, type PeriodBudget } from '../../ledger/credit-ledger.ts';
import { attention, ok, type Finding } from './finding.ts';

/** The limits that apply now: those of `enrich budget set` replace the settings. Starts no server. */
export async function checkBudgets(config: Config): Promise<Finding[]> {
  const { perRun, perPeriod } = config.budgets;
  const ofSettings = Object.entries(perPeriod).map(([period, credits]) => ({
    period,
    limit: credits === undefined ? null : formatCredits(credits),
  }));
  const run = { period: 'run', limit: perRun === undefined ? null : formatCredits(perRun) };
  const limits = [run, ...((await storedLimits(config)) ?? ofSettings)].flatMap(({ period, limit }) =>
    limit === null ? [] : [`${counted(limit, 'credit')} a ${period}`],
  );
  if (limits.length > 0) return [ok('budgets', limits.join(', '))];
  if (config.service.baseUrl === undefined) return [ok('budgets', 'none, and the sandbox costs nothing')];
  const next = `set MAX_CREDITS_PER_RUN or ${periodNames.map(settingOfPeriod).join(' or ')}`;
  return [attention('budgets', 'none: only the approved plan limits what a run spends', next)];
}

/** The budgets of the present day and month; undefined without a migrated database that answers. */
async function storedLimits({
  databaseUrl,
  embedded,
  budgets,
}: Config): Promise<readonly PeriodBudget[] | undefined> {
  const url = databaseUrl ?? runningPostgres(embedded.directories.postgres);
  if (url === undefined) return undefined;
  const warehouse = openWarehouse(url);
  try {
    return await readPeriodBudgets(warehouse.database, budgets.perPeriod);
  } catch {
    // The finding on the database says why.
    return undefined;
  } finally {
    await warehouse.close();
  }
}
