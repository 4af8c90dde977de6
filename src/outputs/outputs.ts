import { z } from 'zod';
import { runFacts, runFields } from '../contract/run-facts.ts';
import {
  type SchemaOutput,
  count,
  textOrNull,
  decimal,
  time,
  type SchemaFields,
  timeText,
} from '../contract/schema-fields.ts';
import { importManifest, cursor, suppressed } from '../export/crm-import/import-manifest.ts';
import { report } from './report-output.ts';
import { attemptStatuses } from '../domain/money/attempt-status.ts';
import type { AttemptFacts } from '../ledger/decide-attempt.ts';
import type { BudgetFacts } from '../ledger/credit-ledger.ts';
import { exportFormatNames } from '../export/export-format.ts';
import { partsManifest } from '../export/export-parts.ts';
import { exportedTableNames } from '../export/export-table.ts';
import type { FeedEntry } from '../people/change-feed.ts';
import { notifiedEvents, type NotifiedEvent } from '../domain/runs/notified-event.ts';
import { planSummary } from '../contract/plan-summary.ts';
import type { ErasureFigures } from '../privacy/erase.ts';

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
  } satisfies SchemaFields<AttemptFacts>)
  .describe('A bulk call.');

const attemptList = z.array(attempt).describe('Bulk calls, the oldest first.');

const budgetList = z
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
    } satisfies SchemaFields<BudgetFacts>),
  )
  .describe('Budgets of the newest periods and runs.');

const exportedFile = z
  .strictObject({
    table: z.enum(exportedTableNames).describe('What a row is.'),
    format: z.enum(exportFormatNames).describe('Form of the file.'),
    output: z.string().describe('The file, or the address in S3.'),
    rows: count.describe('Rows of the file, without the header.'),
    suppressed,
    cursor,
  })
  .describe('A file that was written.');

const change = z
  .strictObject({
    cursor: z.string().describe('Cursor after this change, for --since.'),
    operation: z.enum(['upsert', 'delete']).describe('Whether the contact was written or deleted.'),
    source: z.string().describe('CRM of the contact.'),
    contact_id: z.string().describe("The CRM's id of the contact."),
    groups: z.array(z.string()).describe('Groups of fields that changed, named after their first column.'),
    changed_at: time.describe('When the contact changed.'),
  } satisfies SchemaFields<FeedEntry>)
  .describe('A changed contact: one line of the output.');

const budgetEvent = 'budget';
const jobChangeEvent = 'job_change';
const runEvents = notifiedEvents.filter(
  (event): event is Exclude<NotifiedEvent, typeof budgetEvent | typeof jobChangeEvent> =>
    event !== budgetEvent && event !== jobChangeEvent,
);

const occurrence = {
  event_id: z.string().describe('Id of the event, the same for each try: ignore events that you have seen.'),
  occurred_at: timeText.describe('When the event happened.'),
};

const runNotification = z
  .strictObject({
    event: z.enum(runEvents).describe('What happened to the run.'),
    ...occurrence,
    figures_at: timeText.describe(
      'When rows, outcomes, calls and credits were read: when the notification was sent.',
    ),
    ...runFields,
  })
  .describe('A run ended or paused. "status", "reason_type", "reason" and "next" are those of the event.');

const budgetNotification = z
  .strictObject({
    event: z.literal(budgetEvent).describe('A budget crossed a threshold.'),
    ...occurrence,
    budget: z.string().describe('Name of the budget, such as "day:2026-11-21".'),
    percent: count.describe('The threshold of BUDGET_ALARMS, in percent of the limit.'),
    limit: decimal.describe('Limit in credits.'),
    used: decimal.describe('Settled and reserved credits.'),
  })
  .describe('The credits of a budget crossed a threshold.');

/** Fields of a job change that only a notification with NOTIFY_NAMES contains. */
const jobChangeNames = z.object({
  name: textOrNull.describe('Name of the person. Null: not known.'),
  from_title: textOrNull.describe('Former title. Null: not known.'),
  from_organization: textOrNull.describe('Former employer. Null: only its domain is known.'),
  to_title: textOrNull.describe('New title. Null: not known.'),
  to_organization: textOrNull.describe('New employer. Null: only its domain is known.'),
});

const scheduleNotification = z
  .strictObject({
    event: z.literal('failed').describe('A time of a schedule failed.'),
    ...occurrence,
    schedule: z.string().describe('Name of the schedule.'),
    scheduled_at: timeText.describe('The time of the schedule.'),
    reason: z.string().describe('Why it failed.'),
    next: z.string().describe('What to do.'),
  })
  .describe('A time of a schedule began no run, or left out files, because it failed. It has no "run_id".');

const jobChangeNotification = z
  .strictObject({
    event: z.literal(jobChangeEvent).describe('A person changed employer.'),
    ...occurrence,
    run_id: runFields.run_id.describe('Run whose call found the change.'),
    contacts: z
      .array(z.strictObject({ source: change.shape.source, contact_id: change.shape.contact_id }))
      .describe('The contacts that are this person, at least one.'),
    ...jobChangeNames.partial().shape,
  })
  .describe(
    'A person changed employer: a row of "job_changes". Only NOTIFY_NAMES adds the last five fields.',
  );

export const notification = z
  .union([runNotification, scheduleNotification, budgetNotification, jobChangeNotification])
  .describe('What NOTIFY_URL and NOTIFY_COMMAND receive.');

const runList = z.array(runFacts).describe('Runs, the newest first.');

const plan = planSummary
  .extend({
    source: z.string().nullable().describe('CRM of the export. Null: not recognised.'),
    mapping: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Field of each column of the export that is used. Null: no column is used.'),
    warnings: z.array(z.string()).describe('What is unusual about the export, a sentence each.'),
    flags: z
      .record(z.string(), z.string())
      .describe(
        'Options of the run, by the flag of "enrich run" that sets them, without the leading dashes.',
      ),
  })
  .describe('People, price and duration of a run of the export. Nothing was spent.');

const undo = z
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
} satisfies SchemaFields<ErasureFigures>;

const erase = z
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

const state = z.enum(['ok', 'attention', 'broken']);

const finding = z.strictObject({
  part: z.string().describe('Part of the set-up.'),
  state: state.describe('State of the part.'),
  what: z.string().describe('What would be used, and its condition.'),
  next: z.string().optional().describe('What to do. Absent: nothing is to be done.'),
});

const doctor = z
  .strictObject({
    state: state.describe('The worst state of all parts.'),
    findings: z.array(finding).describe('All parts that were checked.'),
  })
  .describe('The state of the set-up.');

const failure = z
  .strictObject({
    error: z
      .strictObject({
        type: z.string().describe('Stable name of the error, such as "export.unreadable".'),
        message: z.string().describe('What failed.'),
        where: z.string().nullable().describe('Where. Null: the message says it.'),
        next: z.string().describe('What to do.'),
      })
      .describe('The error.'),
    exit_code: z.int().describe('Exit code of the command.'),
  })
  .describe('Printed in place of the facts when a command fails.');

/** Stable JSON outputs, and the commands that print them with `--json`. `npm run schemas` writes the schemas. */
export const outputs = {
  error: { schema: failure, commands: [] },
  notification: { schema: notification, commands: [] },
  run: {
    schema: runFacts,
    commands: ['run', 'backfill', 'demo', 'approve', 'resume', 'pause', 'cancel', 'status'],
  },
  'run-list': { schema: runList, commands: ['status'] },
  plan: { schema: plan, commands: ['plan', 'run', 'backfill'] },
  report: { schema: report, commands: ['report'] },
  change: { schema: change, commands: ['changes'] },
  export: { schema: exportedFile, commands: ['export'] },
  'parts-manifest': { schema: partsManifest, commands: ['export'] },
  'import-manifest': { schema: importManifest, commands: ['export'] },
  'attempt-list': { schema: attemptList, commands: ['attempts list'] },
  'budget-list': { schema: budgetList, commands: ['budget show'] },
  undo: { schema: undo, commands: ['undo'] },
  erase: { schema: erase, commands: ['erase'] },
  doctor: { schema: doctor, commands: ['doctor'] },
} as const satisfies Readonly<Record<string, { schema: z.ZodType; commands: readonly string[] }>>;

export type OutputName = keyof typeof outputs;

/** Type of the value that an output prints. */
export type OutputOf<Name extends OutputName> = Name extends OutputName
  ? SchemaOutput<(typeof outputs)[Name]['schema']>
  : never;
