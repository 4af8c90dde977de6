import { z } from 'zod';
import { outcomes } from '../domain/runs/outcome.ts';
import { count, decimal, type SchemaOutput } from './schema-fields.ts';

/** Counts and prices of a plan, as stored and as `enrich plan --json` prints them. Workflows import only the type. */
export const planSummary = z.strictObject({
  plan_hash: z.string().describe('Hash of the plan: "enrich run FILE --plan HASH" runs exactly this plan.'),
  rows: count.describe('Rows of the export, without the header.'),
  rows_with_email: count
    .nullable()
    .describe('Rows with a readable e-mail address. Null: no column has addresses.'),
  dropped: z
    .partialRecord(z.enum(outcomes), count)
    .describe('Rows that are not asked for, by the outcome that they get.'),
  filled: count.describe(
    'Contacts that get the data of a person whom the warehouse knows before the run, without a call, at most. ' +
      'The run can fill further contacts with people whom its calls find.',
  ),
  people: count.describe('People who are asked for.'),
  found_before: count.describe('Of these people, the ones whom an earlier call found.'),
  people_without_phones: count.describe(
    'People who opted out of calls, in a run that asks for phones: their phones are not asked for.',
  ),
  calls: count.describe(
    'Calls to the service, of up to ten people each. A run can make more: docs/guides/budgets.md names the cases.',
  ),
  pages: count.describe('Pages of the run, which are asked for one after another.'),
  credits: z
    .strictObject({
      minimum: decimal.describe('Credits if the service finds no person.'),
      expected: decimal.describe('Expected credits.'),
      worst_case: decimal.describe('Credits that the run can cost at most.'),
    })
    .describe('The price in credits.'),
  expectation: z
    .strictObject({
      low: decimal.describe('Lower end of the expected range, in credits.'),
      high: decimal.describe('Upper end of the expected range, in credits.'),
      calls: count.describe('Earlier calls that the expectation rests on. 0: it is assumed.'),
      assumption: z.string().nullable().describe('The assumption in words. Null: earlier calls show it.'),
    })
    .describe('What the expected credits rest on.'),
  unmet_expectations: z
    .array(z.string())
    .describe('Unmet expectations of --expect, one sentence each. A run would pause.'),
  pilot: z
    .strictObject({
      people: count.describe('People of the pilot.'),
      pages: count.describe('Pages of the pilot.'),
    })
    .nullable()
    .describe('People who are asked for first. Null: the run has no pilot.'),
  asks_unknown_again: z
    .boolean()
    .describe(
      'Whether a call whose answer is lost is made again (--on-unknown retry). The worst case then counts each ' +
        'person twice.',
    ),
  short_budget: z
    .strictObject({
      budget: z
        .string()
        .describe('Name of the budget, such as "day:2026-11-21"; "run" for the limit of the run itself.'),
      available: decimal.describe('Credits that are left in the budget.'),
      on_empty: z.enum(['finish', 'pause']).describe('What the run does when the budget is empty.'),
    })
    .nullable()
    .describe('The tightest budget that is below the worst case. Null: every budget is sufficient.'),
  rate_limits: z
    .string()
    .describe('Rate limits of the calls, by RATE_LIMITS and by the service: "20/minute, 600/hour".'),
  own_rate_limits: z
    .string()
    .describe('RATE_LIMITS of the worker that made the plan, without the limits of the service.'),
  eta_seconds: z.number().nonnegative().describe('Expected duration in seconds.'),
  in_paused_runs: z
    .strictObject({
      reason: z.string().describe('How many people wait, and the ids of the paused runs.'),
      next: z.string().describe('How to resume or cancel the paused run.'),
    })
    .nullable()
    .describe('People who wait in paused runs: this run does not ask for them. Null: none.'),
});

export type PlanSummary = SchemaOutput<typeof planSummary>;
