import { z } from 'zod';
import { count, decimal, time, type Fields } from '../contract/schema-fields.ts';
import { attemptStatuses } from '../domain/money/attempt-status.ts';
import type { AttemptFacts } from '../ledger/decide-attempt.ts';
import type { BudgetFacts } from '../ledger/budget-limits.ts';

const attempt = z
  .strictObject({
    attempt_id: z.string().describe('Id of the call.'),
    run_id: z.string().describe('Id of the run that made the call.'),
    batch: count.describe('Number of the batch within the run, from 1.'),
    status: z
      .enum(attemptStatuses)
      .describe('Status of the call. Its cost is not known while it is "unknown".'),
    reason: z.string().nullable().describe('Why the call has its status. Null: it was answered as usual.'),
    people: count.describe('People whom the call asked for.'),
    rows: z.array(count).describe('Numbers of their rows in the export, from 1, without the header.'),
    request_id: z.string().nullable().describe("The service's id of the request. Null: none was answered."),
    http_status: z.int().nullable().describe('HTTP status of the answer or the error. Null: none came.'),
    credits_reserved: decimal.describe('Credits that were reserved for the call: its worst case.'),
    credits_settled: decimal.nullable().describe('Credits that the call cost. Null: not known yet.'),
    credits_stated: decimal
      .nullable()
      .describe(
        'Credits that its answer and deliveries state. No decision settles less. Null: none are stated.',
      ),
    admitted_at: time.describe('When the call was admitted.'),
    awaited_until: time.nullable().describe('Deadline of its late results. Null: none are awaited.'),
  } satisfies Fields<AttemptFacts>)
  .describe('A bulk call.');

export const attemptList = z.array(attempt).describe('Bulk calls, the oldest first.');

export const budgetList = z
  .array(
    z.strictObject({
      budget: z.string().describe('Name of the budget, such as "day:2026-11-21" or "run:" and a run.'),
      limit: decimal.nullable().describe('Limit in credits. Null: no limit.'),
      set_by: z
        .enum(['command', 'options', 'settings'])
        .describe('What decides the limit: "enrich budget set", the options of the run, or a setting.'),
      settled: decimal.describe('Credits that are paid.'),
      reserved: decimal.describe('Credits held for calls whose cost is not settled.'),
      alarms: z.array(z.int()).describe('Thresholds of BUDGET_ALARMS that were crossed, in percent.'),
    } satisfies Fields<BudgetFacts>),
  )
  .describe('Budgets of the newest periods and runs.');
