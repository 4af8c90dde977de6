import { z } from 'zod';
import { attemptStatuses } from '../domain/money/attempt-status.ts';
import { defaultBudgetNames } from '../domain/money/budget-periods.ts';
import type { Reconciliation } from '../ledger/credit-statements.ts';
import type { AttemptFacts } from '../ledger/decide-attempt.ts';
import type { BudgetChange, BudgetFacts } from '../ledger/read-budgets.ts';
import { count, decimal, time, type Fields } from './fields.ts';

const budget = z.string().describe('Name of the budget, such as "day:2026-11-21" or "run:" and a run.');
const limit = decimal.nullable();

export const attempt = z
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
    credits_settled: limit.describe('Credits that the call cost. Null: not known yet.'),
    credits_stated: limit.describe(
      'Credits that its answer and deliveries state. No decision settles less. Null: none are stated.',
    ),
    admitted_at: time.describe('When the call was admitted.'),
    awaited_until: time.nullable().describe('Deadline of its late results. Null: none are awaited.'),
  } satisfies Fields<AttemptFacts>)
  .describe('A bulk call.');

export const attemptList = z.array(attempt).describe('Bulk calls, the oldest first.');

export const attemptDecisions = z
  .strictObject({ attempts: z.array(attempt).describe('The calls after the decision.') })
  .describe('Calls whose credits a person has released or settled.');

export const budgetList = z
  .array(
    z.strictObject({
      budget,
      limit: limit.describe('Limit in credits. Null: no limit.'),
      set_by: z
        .enum(['command', 'options', 'settings'])
        .describe('What decides the limit: "enrich budget set", the options of the run, or a setting.'),
      settled: decimal.describe('Credits that are paid.'),
      reserved: decimal.describe('Credits held for calls whose cost is not settled.'),
      alarms: z.array(z.int()).describe('Thresholds of BUDGET_ALARMS that were crossed, in percent.'),
    } satisfies Fields<BudgetFacts>),
  )
  .describe('Budgets of the newest periods and runs.');

export const budgetHistory = z
  .array(
    z.strictObject({
      changed_at: time.describe('When the limit was changed.'),
      budget: z
        .string()
        .describe(
          `Name of the budget; ${defaultBudgetNames.map((name) => `"${name}"`).join(' or ')} for --from-now-on.`,
        ),
      old_limit: limit.describe('Limit in credits before the change. Null: no limit.'),
      new_limit: limit.describe('Limit in credits after the change. Null: no limit.'),
      changed_by: z.string().describe('Who changed the limit.'),
      reason: z.string().nullable().describe('Why. Null: no reason was given.'),
    } satisfies Fields<BudgetChange>),
  )
  .describe('Changes of limits, the newest first.');

export const budgetSet = z
  .strictObject({
    budget,
    before: limit.describe('Limit in credits before the command. Null: no limit.'),
    after: limit.describe('Limit in credits after the command. Null: no limit.'),
    waiting_runs: z.array(z.string()).describe('Ids of runs that waited for this budget.'),
  })
  .describe('A changed limit.');

const callFigure = count.nullable().optional();
const creditFigure = decimal.nullable();

export const usage = z
  .strictObject({
    operations: z
      .array(
        z.strictObject({
          path: z.string().describe('Path of the operation, in the words of the service.'),
          action: z.string().describe('Action of the operation, in the words of the service.'),
          windows: z
            .array(
              z.strictObject({
                window: z.enum(['minute', 'hour', 'day']).describe('Name of the window.'),
                seconds: count.describe('Length of the window in seconds.'),
                limit: callFigure.describe('Allowed calls. Null: unlimited. Absent: not reported.'),
                used: count.optional().describe('Calls that were made. Absent: not reported.'),
                left: callFigure.describe('Calls that are left. Null: unlimited. Absent: not reported.'),
              }),
            )
            .describe('Rate windows of the operation.'),
        }),
      )
      .nullable()
      .describe('Calls of the whole team by operation. Null: the service does not state them.'),
    credits: z
      .strictObject({
        kinds: z
          .array(
            z.strictObject({
              name: z.string().describe('Name of the kind, in the words of the service.'),
              limit: creditFigure.describe('Credits of the cycle. Null: unlimited, or not reported.'),
              consumed: creditFigure.describe('Credits that are used. Null: not reported.'),
              left: creditFigure.describe('Credits that are left. Null: unlimited, or not reported.'),
            }),
          )
          .describe('Figures by kind of credits.'),
        cycle: z
          .strictObject({
            start_date: z.string().optional().describe('Begin of the cycle. Absent: not reported.'),
            end_date: z.string().optional().describe('End of the cycle. Absent: not reported.'),
          })
          .describe('The credit cycle, as the service writes its dates.'),
      })
      .nullable()
      .describe('Credits of the whole team. Null: the service does not state them.'),
  })
  .describe("The service's own figures of rate windows and credits.");

export const reconciliation = z
  .strictObject({
    missing_statement: z
      .string()
      .nullable()
      .describe('Why the service gave no statement now: "cycles" is from earlier ones. Null: it gave one.'),
    cycles: z
      .array(
        z.strictObject({
          cycle_start: z.string().nullable().describe('Begin of the credit cycle. Null: not reported.'),
          cycle_end: z.string().nullable().describe('End of the credit cycle. Null: not reported.'),
          from: time.describe('When the first statement of the cycle was read.'),
          to: time.describe('When the last statement of the cycle was read.'),
          billed: decimal.describe('Credits that the service billed to the team between the statements.'),
          settled: decimal.describe(
            'Credits that the ledger settled for calls between the statements, with "stated".',
          ),
          stated: decimal.describe(
            'Credits that answers state for calls without a final cost: runs have them as reserved or unknown.',
          ),
          held: decimal.describe('Credits that the ledger holds for calls without a final cost.'),
          unknown: decimal.describe('The part of "held" whose cost is unknown.'),
          unexplained: decimal.describe(
            'Credits that were billed, and neither settled nor held. Negative: not billed yet.',
          ),
        } satisfies Fields<Reconciliation>),
      )
      .describe('Credit cycles with at least two statements, the newest first.'),
  })
  .describe("The service's statements beside the ledger.");

export const whoami = z
  .strictObject({
    user_id: z.string().describe("The service's id of the user."),
    name: z.string().nullable().describe('Name of the user. Null: not reported.'),
    service: z.string().describe('Address of the service.'),
    sandbox: z.boolean().describe('Whether the service is the sandbox of this machine.'),
    credential: z
      .enum(['api-key', 'access-token'])
      .nullable()
      .describe('Kind of the credential. Null: unknown.'),
  })
  .describe('The user that the credential acts as.');
