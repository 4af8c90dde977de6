import { sql, type Kysely } from 'kysely';
import type { Tables } from '../warehouse/tables.ts';

/** A budget has used so much of its limit. Credits are decimals as text. */
export interface BudgetAlarm {
  readonly budgetId: string;
  /** The threshold, in percent of the limit; 100 also where the limit held people back. */
  readonly percent: number;
  readonly limit: string;
  /** Settled and reserved when it was crossed. */
  readonly used: string;
}

/**
 * Every threshold that was crossed, the newest first: what notifications and metrics are made of. A threshold is crossed once
 * for each limit of a budget: it can be crossed again where the limit was changed.
 *
 * @param since only those that were crossed after it
 */
export async function readBudgetAlarms(
  database: Kysely<Tables>,
  since: Date | undefined,
): Promise<(BudgetAlarm & { readonly crossedAt: Date })[]> {
  const result = await sql<BudgetAlarm & { crossedAt: Date }>`
    select budget_id as "budgetId", percent, trim_scale(credits_limit)::text as "limit", trim_scale(used)::text as used,
      crossed_at as "crossedAt"
    from budget_alarms where ${since ?? null}::timestamptz is null or crossed_at > ${since ?? null}
    order by crossed_at desc, budget_id, percent desc
  `.execute(database);
  return result.rows;
}

/** The alarm as a line of a log. */
export function describeAlarm({ budgetId, percent, used, limit }: BudgetAlarm): string {
  return `budget ${budgetId} has used ${percent} % of its limit: ${used} of ${limit} credits are settled or reserved`;
}
