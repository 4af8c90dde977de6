import { z } from 'zod';
import { runFields } from '../contract/run-facts.ts';
import { count, decimal, timeText, type SchemaOutput } from '../contract/schema-fields.ts';
import {
  deliveryKindNames,
  deliveryKinds,
  type DeliveryKind,
} from '../domain/late-results/delivery-kinds.ts';

const seconds = z.number().nonnegative();

const run = z.strictObject({
  run_id: runFields.run_id,
  status: runFields.status,
  reason: z.string().nullable().describe('Why the run waits or ended so. Null: no reason.'),
  next: z.string().nullable().describe('What the operator can do about the reason. Null: no reason.'),
  file: runFields.file,
  file_sha256: z.string().describe('SHA-256 of the export, in hexadecimal digits.'),
  rows: runFields.rows,
  source: runFields.source,
  service: runFields.service,
  asked_for: z
    .strictObject({
      reveal: z.array(z.string()).describe('What --reveal asked for.'),
      waterfall: z.array(z.string()).describe('What --waterfall asked for.'),
    })
    .describe('What the calls asked for beyond the fields of a person.'),
  priority: z.string().describe('Priority of the calls.'),
  plan_hash: runFields.plan_hash,
  created_at: timeText.describe('When the run began.'),
  approved_at: timeText
    .nullable()
    .describe('When the run was approved: with --yes and by a schedule, when it began. Null: it was not.'),
  finished_at: timeText.nullable().describe('When the run ended. Null: it has not.'),
  seconds: count.describe('Seconds from the beginning of the run to its end, or to the report.'),
  cancelled: runFields.cancelled,
  undone: runFields.undone,
});

const fieldCoverage = z.strictObject({
  field: z.string().describe('Name of the field.'),
  before: count
    .nullable()
    .describe('Contacts with the field in the export. Null: no column is recognised for the field.'),
  after: count.describe('Contacts with the field in the export or in the warehouse.'),
  gained: count.describe('Contacts with the field in the warehouse and not in the export.'),
});

const coverage = z.strictObject({
  contacts: count.describe('Contacts of the export, without duplicates and unreadable rows.'),
  fields: z.array(fieldCoverage).describe('Empty: the rows of the export were pruned.'),
});

const creditsOfDeliveries = Object.fromEntries(
  deliveryKindNames.map((kind) => [
    kind,
    decimal.describe(`For ${deliveryKinds[kind].creditsName}, billed with late results.`),
  ]),
) as Record<DeliveryKind, typeof decimal>;

const credits = z.strictObject({
  settled: z
    .strictObject({
      total: decimal.describe('Sum of the following.'),
      records: decimal.describe('For answers.'),
      ...creditsOfDeliveries,
      decided: decimal.describe('Decided by a person without a bill.'),
    })
    .describe('Credits that are paid.'),
  held: z
    .strictObject({
      total: decimal.describe('Sum of the following.'),
      in_flight: decimal.describe('For calls in flight.'),
      awaiting: decimal.describe('For late results.'),
      unknown: decimal.describe('For calls whose cost is unknown.'),
    })
    .describe('Credits that are reserved.'),
  planned: z
    .strictObject({
      low: decimal.describe('Lower end of the expected range.'),
      high: decimal.describe('Upper end of the expected range.'),
      minimum: decimal.describe('Least credits.'),
      expected: decimal.describe('Expected credits.'),
      worst_case: decimal.describe('Most credits.'),
    })
    .nullable()
    .describe('What the plan expected. Null: the run was not planned.'),
  budgets: z
    .array(
      z.strictObject({
        budget: z.string().describe('Name of the budget.'),
        limit: decimal.nullable().describe('Its limit in credits. Null: it has none.'),
        settled: decimal.describe('Credits of all its runs that are paid.'),
        reserved: decimal.describe('Credits of all its runs that are reserved.'),
      }),
    )
    .describe('Budgets of the calls of the run.'),
});

const waste = z.strictObject({
  kind: z.enum(['no_contact', 'answered_again', 'no_answer']).describe('Why the credits had no result.'),
  count: count.describe('People.'),
  credits: decimal.describe('Credits without a result.'),
});

const cost = z.strictObject({
  field: z.enum(['contact', 'verified_email', 'phone']).describe('Usable field.'),
  count: count.describe('People whom the run found, who are a contact now and have the field.'),
  credits: decimal.describe('Settled credits that are charged to the field.'),
  each: decimal
    .nullable()
    .describe(
      'Credits for one, rounded to a millionth. Null: no person has the field, or credits are held and none is ' +
        'settled.',
    ),
});

const window = z.strictObject({
  limit: count.describe('Most calls in the window.'),
  seconds: seconds.describe('Length of the window.'),
  peak: count.describe('Most calls of all runs in any trailing window.'),
});

const calls = z.strictObject({
  by_status: z.record(z.string(), count).describe('Calls by the status of their attempt.'),
  first_at: timeText.nullable().describe('Time of the first call. Null: no call.'),
  last_at: timeText.nullable().describe('Time of the last call. Null: no call.'),
  windows: z.array(window).describe('Rate windows.'),
});

const lateResults = runFields.late_results.omit({ next_poll_at: true, missing: true }).extend({
  waiting: count.describe('Deliveries that are not applied yet.'),
  median_seconds: seconds.nullable().describe('Seconds from the answer to the delivery. Null: no delivery.'),
  longest_seconds: seconds.nullable().describe('The longest of them. Null: no delivery.'),
});

/** Fields that a report compares with known values. */
export const comparedFields = [
  'email',
  'phone',
  'title',
  'organization_name',
  'organization_domain',
  'linkedin_url',
  'city',
  'state',
  'country',
] as const;
export type ComparedField = (typeof comparedFields)[number];

const share = z.number().min(0).max(1);
const rate = z
  .strictObject({
    rate: share.describe('The share.'),
    low: share.describe("Lower end of Wilson's interval of 95 %."),
    high: share.describe("Upper end of Wilson's interval of 95 %."),
  })
  .nullable();

const field = z.strictObject({
  field: z.enum(comparedFields).describe('Name of the column.'),
  known: count.describe('People of the file whose value is known.'),
  filled: count.describe('Those of them for whom the warehouse has a value.'),
  correct: count.describe('Those of these whose value is the known one.'),
  coverage: rate.describe('Filled of known. Null: no value is known.'),
  accuracy: rate.describe('Correct of filled. Null: no value is filled.'),
});

const wrongPerson = z.strictObject({
  row: count.describe('Row of the file, from 1.'),
  contact_id: z.string().describe("The CRM's id of the contact."),
  because: z.enum(['name', 'profile']).describe('What differs.'),
});

const evaluation = z
  .strictObject({
    source: z.string().describe('CRM of the contacts.'),
    key: z.enum(['contact_id', 'email']).describe('Column by which contacts were found.'),
    people: count.describe('People of the file.'),
    enriched: count.describe('People for whom the warehouse has data.'),
    fields: z.array(field).describe('Fields that the file has.'),
    identities_compared: count.describe('Enriched people whose name or profile is known.'),
    wrong_people: z.array(wrongPerson).describe('Contacts that hold the data of another person.'),
  })
  .describe('The warehouse beside a file of known values.');

const action = z.strictObject({
  what: z.string().describe('What you must decide or do.'),
  next: z.string().describe('The next step.'),
});

export const report = z
  .strictObject({
    report_version: z.literal(1).describe('Grows when a name is removed or changes its meaning.'),
    generated_at: timeText.describe('Time of the report.'),
    run: run.describe('The run.'),
    outcomes: runFields.outcomes,
    contested_rows: count.describe(
      'Rows whose record id names different people in the file. Their outcome is "duplicate"; none is asked for.',
    ),
    lost_contacts: z
      .array(
        z.strictObject({
          reason: z.string().describe('Why the contact lost its person.'),
          rows: count.describe('Rows with this reason.'),
        }),
      )
      .describe('Rows whose contact has lost the person whom it had by the row.'),
    coverage: coverage.describe('How many contacts have each field.'),
    credits: credits.describe('Credits of the run.'),
    waste: z.array(waste).describe('Credits without a result.'),
    costs: z.array(cost).describe('Cost of each usable field.'),
    calls: calls.describe('Calls of the run.'),
    late_results: lateResults.describe('Results that arrive after the answer of a call.'),
    evaluation: evaluation.optional().describe('Comparison with known values. Absent without --truth.'),
    needs_person: z.array(action).describe('What only a person can do.'),
  })
  .describe('The report of a run.');

/** The report as `--format json` prints it, with stable names, and without a person. */
export type RunReport = SchemaOutput<typeof report>;
