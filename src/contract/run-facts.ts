import { z } from 'zod';
import { outcomes } from '../domain/runs/outcome.ts';
import { runStatuses, type RunStatus } from './run-transitions.ts';
import { count, decimal, textOrNull, timeText, type SchemaOutput } from './schema-fields.ts';

/** Workflows import only types of this file, so that their bundle does not contain zod. */
const cancelled = z.strictObject({
  at: timeText.describe('When the operator cancelled the run.'),
  reason: z.string().describe('Why.'),
});

const runUndo = z.strictObject({
  at: timeText.describe('When the run was undone.'),
  by: z.string().describe('Who undid the run.'),
  reason: z.string().nullable().describe('Why. Null: no reason was given.'),
});

/** Fields of a run that its facts and its notifications share. */
export const runFields = {
  run_id: z.string().describe('Id of the run; also the id of its Temporal workflow.'),
  workflow_id: z.string().describe('Id of the Temporal workflow of the run.'),
  status: z
    .enum(Object.keys(runStatuses) as RunStatus[])
    .describe('Status of the run. "planned", "finished", "cancelled" and "failed" are final.'),
  reason_type: textOrNull.describe(
    'Stable name of the reason for the status, or of the first decision that an ended run needs, such as ' +
      '"budget.empty". Null: nothing needs the operator.',
  ),
  reason: z.string().nullable().describe('The reason in words. Null: as reason_type.'),
  next: z.string().nullable().describe('What the operator can do about the reason. Null: as reason_type.'),
  source: z.string().nullable().describe('CRM of the export. Null: the export has not been read.'),
  file: z.string().describe('Name of the export, without its folder.'),
  service: z.string().describe('"sandbox", or the URL of the service without secrets.'),
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
      duplicate: count.describe('Deliveries that had arrived before.'),
      quarantined: count.describe('Deliveries that cannot be applied ("enrich inbox list" says why).'),
      next_poll_at: timeText.nullable().describe('When the next poll is due. Null: no call needs one.'),
      missing: textOrNull.describe(
        'The late results that an ended run lacks, in a sentence. Null: none, or the run has not ended.',
      ),
    })
    .describe('Results that arrive after the answer of a call.'),
  cancelled: cancelled.nullable().describe('The cancellation of the run. Null: it was not cancelled.'),
  undone: runUndo.nullable().describe('The undo of the run. Null: the run is not undone.'),
};

export const runFacts = z.strictObject(runFields).describe('Status and figures of a run.');

/** Facts of a run, a part of the public surface: the last line of `enrich run --json`, and `enrich status --json`. */
export type RunFacts = SchemaOutput<typeof runFacts>;

/** An undo of a run, which removed the run's values from contacts. The run's costs stay. */
export type RunUndo = SchemaOutput<typeof runUndo>;

/** Facts of a run, and the time (ISO 8601) at which the run's workflow read them. */
export interface RunFactsSnapshot {
  readonly facts: RunFacts;
  readonly readAt: string;
}

/** State of a run's late results: the counts of `RunFacts`, and what the workflow needs to schedule the next sync. */
export interface LateResultsStatus extends Omit<RunFacts['late_results'], 'next_poll_at' | 'missing'> {
  /** Number of deliveries that wait in the inbox. */
  readonly waiting: number;
  /** Time (ISO 8601) until which the run awaits late results; null if it awaits none. */
  readonly until: string | null;
  /** Time (ISO 8601) by the database's clock at which this state was read. */
  readonly readAt: string;
  /** Time (ISO 8601) of the next poll; null if none. It can be after the deadline, because a worker may be late. */
  readonly nextPollAt: string | null;
  /**
   * Latest time (ISO 8601) of the next sync, by the database's clock: when a poll is due and its rate window has a free
   * slot, or when a deadline passes.
   */
  readonly nextSyncAt: string | null;
}
