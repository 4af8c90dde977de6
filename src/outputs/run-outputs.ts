import { z } from 'zod';
import { planSummary } from '../contract/plan-summary.ts';
import { runFacts, runFields } from '../contract/run-facts.ts';
import { count, type Fields } from '../contract/schema-fields.ts';
import type { ErasureFigures } from '../privacy/erase.ts';

export const runList = z.array(runFacts).describe('Runs, the newest first.');

const figures = planSummary.shape;
const { minimum, expected, worstCase } = figures.credits.shape;
const { budget, available, onEmpty } = figures.shortBudget.unwrap().shape;

export const plan = z
  .strictObject({
    plan_hash: figures.planHash,
    source: z.string().nullable().describe('CRM of the export. Null: not recognised.'),
    mapping: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Field of each column of the export that is used. Null: no column is used.'),
    warnings: z.array(z.string()).describe('What is unusual about the export, a sentence each.'),
    rows: figures.rows,
    rows_with_email: figures.withEmail,
    in_paused_runs: figures.inPausedRuns,
    dropped: figures.dropped,
    filled: figures.filled,
    people: figures.people,
    people_without_phones: figures.peopleWithoutPhones,
    calls: figures.calls,
    credits: z
      .strictObject({ minimum, expected, worst_case: worstCase })
      .describe(figures.credits.description!),
    expectation: figures.expectation,
    unmet_expectations: figures.unmet,
    pilot: figures.pilot,
    asks_unknown_again: figures.asksUnknownAgain,
    short_budget: z
      .strictObject({ budget, available, on_empty: onEmpty })
      .nullable()
      .describe(figures.shortBudget.description!),
    eta_seconds: figures.etaSeconds,
    flags: z
      .record(z.string(), z.string())
      .describe(
        'Options of the run, by the flag of "enrich run" that sets them, without the leading dashes.',
      ),
  })
  .describe('People, price and duration of a run of the export. Nothing was spent.');

export const undo = z
  .strictObject({
    run_id: runFields.run_id,
    undone: z.boolean().describe('Whether the run is undone now.'),
    removed: count.describe(
      'Contacts that only the export of this run has, which an undo removes. 0 with --revert.',
    ),
    returned: count.describe('Contacts that only the export of this run has, which --revert brings back.'),
    restored: count.describe('Contacts that other exports have as well: these decide about them.'),
    observations_discarded: count.describe('Observations that --discard-answers removed.'),
    lookup_keys_removed: count.describe(
      'Keys that the next run asks for again, because of --discard-answers.',
    ),
    credits: runFields.credits,
  })
  .describe('What an undo changed, or would change without --yes.');

const erasedFields = {
  contacts: count.describe('Enriched contacts.'),
  phones: count.describe('Phone numbers.'),
  observations: count.describe('Observations from answers and deliveries.'),
  rows: count.describe('Rows of exports.'),
  answers: count.describe('Bodies of answers.'),
  deliveries: count.describe('Bodies of deliveries.'),
  lookup_keys: count.describe('Keys of the person in the lookup history.'),
} satisfies Fields<ErasureFigures>;

export const erase = z
  .strictObject({
    erased: z
      .boolean()
      .describe(
        'True: all data was removed, and the suppression list has the person. False: nothing changed, without --yes.',
      ),
    found: z.boolean().describe('Whether the warehouse had anything of the person.'),
    ...erasedFields,
    same_name: z
      .array(z.string())
      .describe('Other people of the same name in answers to the same calls, as "person:ID": they stay.'),
  })
  .describe('Data of one person.');
