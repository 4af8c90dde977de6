import { z } from 'zod';
import type { RunFacts } from '../contract/run-facts.ts';
import { runPriorities } from '../contract/run-priorities.ts';
import { runStatuses, type RunStatus } from '../contract/run-statuses.ts';
import { outcomes } from '../domain/runs/outcome.ts';
import { count, decimal, timeText, type Fields } from './fields.ts';

const runId = z.string().describe('Id of the run; also the id of its Temporal workflow.');

export const cancelled = z
  .strictObject({
    at: timeText.describe('When a person cancelled the run.'),
    reason: z.string().describe('Why.'),
  })
  .nullable()
  .describe('The cancellation of the run. Null: it was not cancelled.');

export const undone = z
  .strictObject({
    at: timeText.describe('When the run was undone.'),
    by: z.string().describe('Who undid the run.'),
    reason: z.string().nullable().describe('Why. Null: no reason was given.'),
  })
  .nullable()
  .describe('The undo of the run. Null: the run is not undone.');

/** The fields of a run, which notifications have as well. */
export const runFields = {
  run_id: runId,
  workflow_id: z.string().describe('Id of the Temporal workflow of the run.'),
  status: z
    .enum(Object.keys(runStatuses) as RunStatus[])
    .describe('Status of the run. "planned", "finished", "cancelled" and "failed" are final.'),
  reason_type: z
    .string()
    .nullable()
    .describe(
      'Stable name of the reason for the status, or of the first decision that an ended run needs, such as ' +
        '"budget.empty". Null: nothing needs a person.',
    ),
  reason: z.string().nullable().describe('The reason in words. Null: as reason_type.'),
  next: z.string().nullable().describe('What a person can do about the reason. Null: as reason_type.'),
  source: z.string().nullable().describe('CRM of the export. Null: the export has not been read.'),
  file: z.string().describe('Name of the export, without its folder.'),
  service: z.string().describe('"sandbox", or the address of the service without secrets.'),
  plan_hash: z.string().nullable().describe('Hash of the plan, for --plan. Null: not planned yet.'),
  rows: count.describe('Rows that were read from the export, without the header.'),
  outcomes: z
    .partialRecord(z.enum([...outcomes, 'open']), count)
    .describe('Number of rows by outcome. Rows that have no outcome yet are "open".'),
  filled: count.describe('Contacts that got the data of a known person without a call.'),
  calls: count.describe('Calls to the service, without calls that were never sent.'),
  max_credits: decimal.nullable().describe('Budget of the run, in credits. Null: the run has none.'),
  credits: z
    .strictObject({
      settled: decimal.describe('Credits that are paid.'),
      reserved: decimal.describe('Credits held for calls in flight and for late results.'),
      unknown: decimal.describe('Credits held for calls whose cost is unknown.'),
    })
    .describe('Credits of the calls of this run.'),
  expected_credits: z
    .strictObject({
      expected: decimal.describe('Expected credits.'),
      low: decimal.describe('Lower end of the expected range, in credits.'),
      high: decimal.describe('Upper end of the expected range, in credits.'),
    })
    .nullable()
    .describe('What the plan expected. Null: not planned yet.'),
  late_results: z
    .strictObject({
      awaited: count.describe('Calls whose late results are awaited.'),
      arrived: count.describe('Deliveries that took effect.'),
      polled: count.describe('Of "arrived": by poll and not by webhook.'),
      late: count.describe('Deliveries that took effect after the run had ended.'),
      expired: count.describe('Calls whose late results did not arrive before the deadline.'),
      orphaned: count.describe(
        'Deliveries whose results go to no person of a recorded answer. Their price counts.',
      ),
      duplicate: count.describe('Deliveries that had arrived before.'),
      quarantined: count.describe('Deliveries that cannot be applied ("enrich inbox list" says why).'),
      next_poll_at: timeText.nullable().describe('When the next poll is due. Null: no call needs one.'),
      missing: z
        .string()
        .nullable()
        .describe(
          'The late results that an ended run lacks, in a sentence. Null: none, or the run has not ended.',
        ),
    })
    .describe('Results that arrive after the answer of a call.'),
  cancelled,
  undone,
} satisfies Fields<RunFacts>;

export const run = z.strictObject(runFields).describe('Status and figures of a run.');

export const mapping = z
  .strictObject({
    mapping_file: z.string().describe('The file that was written, as --write-mapping names it.'),
    next: z.string().describe('What to do with the file.'),
  })
  .describe('A proposed mapping that was written in place of a plan, because no column was recognised.');

export const plan = z
  .strictObject({
    plan_hash: z.string().describe('Hash of the plan: "enrich run FILE --plan HASH" runs exactly this plan.'),
    source: z.string().nullable().describe('CRM of the export. Null: not recognised.'),
    mapping: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Field of each column of the export that is used. Null: no column is used.'),
    warnings: z.array(z.string()).describe('What is unusual about the export, a sentence each.'),
    rows: count.describe('Rows of the export, without the header.'),
    rows_with_email: count
      .nullable()
      .describe('Rows with a readable e-mail address. null: no column has addresses.'),
    in_paused_runs: z
      .strictObject({
        reason: z.string().describe('How many people wait, and the ids of the paused runs.'),
        next: z.string().describe('How to resume or cancel the paused run.'),
      })
      .nullable()
      .describe('People who wait in paused runs: this run does not ask for them. Null: none.'),
    dropped: z
      .partialRecord(z.enum(outcomes), count)
      .describe('Rows that are not asked for, by the outcome that they get.'),
    filled: count.describe(
      'Contacts that get the data of a person whom the warehouse knows before the run, without a call, at most. ' +
        'The run can fill further contacts with people whom its calls find.',
    ),
    people: count.describe('People who are asked for.'),
    people_without_phones: count.describe(
      'People who opted out of calls, in a run that asks for phones: their phones are not asked for.',
    ),
    calls: count.describe(
      'Calls to the service, of up to ten people each. A run can make more: docs/budgets.md names the cases.',
    ),
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
        source: z.string().nullable().describe('CRM of these calls. Null: of all sources.'),
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
      .describe('Whether a call whose answer is lost is made again (--on-unknown retry).'),
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
    eta_seconds: z.number().nonnegative().describe('Expected duration in seconds.'),
    flags: z
      .record(z.string(), z.string())
      .describe(
        'Options of the run, by the flag of "enrich run" that sets them, without the leading dashes.',
      ),
  })
  .describe('People, price and duration of a run of the export. Nothing was spent.');

export const undo = z
  .strictObject({
    run_id: runId,
    undone: z.boolean().describe('Whether the run is undone now.'),
    removed: count.describe(
      'Contacts that only this run knows, which an undo removes: without --yes at most so many. 0 with --revert.',
    ),
    returned: count.describe('Contacts that only this run knows, which --revert brings back. 0 for an undo.'),
    restored: count.describe('Contacts that other runs know as well: their values are computed anew.'),
    only_emails: count.describe('Of "restored": contacts whose email address only this run knows.'),
    only_phones: count.describe('Of "restored": contacts whose phones only this run knows.'),
    lookup_keys: count.describe('Keys of this run in the lookup history.'),
    lookup_keys_removed: count.describe('Keys that --forget removed from the lookup history.'),
    credits: runFields.credits,
  })
  .describe('What an undo changed, or would change without --yes.');

export const priority = z
  .strictObject({
    run_id: runId,
    before: z.enum(runPriorities).describe('Priority before the command.'),
    after: z.enum(runPriorities).describe('Priority from the next batch on.'),
  })
  .describe('The changed priority of a run.');

export const skip = z
  .strictObject({
    run_id: runId,
    page: count.describe('Number of the page, from 1.'),
    people: count.describe('People of the page who will not be asked for.'),
  })
  .describe('A page that a run skips.');
