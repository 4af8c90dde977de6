import { z } from 'zod';
import { evaluatedFields, type Evaluation, type FieldEvaluation } from '../domain/evaluation/evaluate.ts';
import type { MatchRate } from '../domain/runs/match-rate.ts';
import type { FeedEntry } from '../people/change-feed.ts';
import { count, decimal, time, timeText, type Fields } from './fields.ts';

export const migrate = z
  .strictObject({
    migrations: z.array(z.string()).describe('Names of the migrations that were carried out.'),
    newer: z.array(z.string()).describe('Migrations of the database that this release does not know.'),
    analyst_role: z
      .string()
      .nullable()
      .describe('Role that may read now. Null: --analyst-role was not given.'),
  })
  .describe('Migrations of the warehouse.');

export const sql = z
  .strictObject({
    address: z.string().describe('Address of the warehouse, without a password.'),
    schema: z.string().describe('Schema of the tables.'),
    psql: z.string().nullable().describe('Path of psql. Null: psql is not installed.'),
  })
  .describe('How to connect to the warehouse.');

export const sqlRows = z
  .array(z.record(z.string(), z.unknown()))
  .describe('The rows of a statement: an object each, with the names of the columns.');

export const rebuild = z
  .strictObject({
    check: z.boolean().describe('Whether the command only compared (--check).'),
    bodies: count.optional().describe('Stored bodies that were read again. Absent without --from-answers.'),
    observations_changed: count
      .optional()
      .describe('Observations that were read differently. Absent without --from-answers.'),
    people: count.describe('People who were computed.'),
    contacts: count.describe('Contacts that were computed.'),
    differences: count.describe('People, companies and contacts that differed.'),
    differing: z.array(z.string()).describe('The first keys that differed, at most 20.'),
    complete: z.boolean().describe('False: the command was stopped early.'),
  })
  .describe('People, companies and contacts that were computed from the log.');

export const match = z
  .looseObject({
    person: z
      .looseObject({})
      .nullable()
      .optional()
      .describe("The person, with the fields of the service's interface. Null or absent: not found."),
  })
  .describe('The answer of the service, as the service gave it.');

export const matchRequest = z
  .strictObject({
    sent: z.literal(false).describe('False: without --yes, the service was not called.'),
    request: z
      .record(z.string(), z.string())
      .describe("The person to ask for, with the fields of the service's interface."),
    maximum_credits: decimal.describe('Highest price of the call, in credits.'),
  })
  .describe('A request that was not sent.');

export const importHistory = z
  .strictObject({
    rows: count.describe('Rows whose people count as asked for.'),
    asked_at: timeText.describe('The time of the calls.'),
  })
  .describe('People who were recorded as asked for.');

export const change = z
  .strictObject({
    cursor: z.string().describe('Cursor after this change, for --since.'),
    operation: z.enum(['upsert', 'delete']).describe('Whether the contact was written or deleted.'),
    source: z.string().describe('CRM of the contact.'),
    contact_id: z.string().describe("The CRM's id of the contact."),
    groups: z.array(z.string()).describe('Groups of fields that changed, named after their first column.'),
    changed_at: time.describe('When the contact changed.'),
  } satisfies Fields<FeedEntry>)
  .describe('A changed contact: one line of the output.');

const share = z.number().min(0).max(1);
const rate = z
  .strictObject({
    rate: share.describe('The share.'),
    low: share.describe("Lower end of Wilson's interval of 95 %."),
    high: share.describe("Upper end of Wilson's interval of 95 %."),
  } satisfies Fields<MatchRate>)
  .nullable();

const field = z.strictObject({
  field: z.enum(evaluatedFields).describe('Name of the column.'),
  known: count.describe('People of the file whose value is known.'),
  filled: count.describe('Those of them for whom the warehouse has a value.'),
  correct: count.describe('Those of these whose value is the known one.'),
  coverage: rate.describe('Filled of known. Null: no value is known.'),
  accuracy: rate.describe('Correct of filled. Null: no value is filled.'),
} satisfies Fields<FieldEvaluation>);

const wrongPerson = z.strictObject({
  row: count.describe('Row of the file, from 1.'),
  contact_id: z.string().describe("The CRM's id of the contact."),
  because: z.enum(['name', 'profile']).describe('What differs.'),
} satisfies Fields<Evaluation['wrong_people'][number]>);

export const evaluation = z
  .strictObject({
    source: z.string().describe('CRM of the contacts.'),
    key: z.enum(['contact_id', 'email']).describe('Column by which contacts were found.'),
    people: count.describe('People of the file.'),
    enriched: count.describe('People for whom the warehouse has data.'),
    fields: z.array(field).describe('Fields that the file has.'),
    identities_compared: count.describe('Enriched people whose name or profile is known.'),
    wrong_people: z.array(wrongPerson).describe('Contacts that hold the data of another person.'),
  } satisfies Fields<Evaluation>)
  .describe('The warehouse beside a file of known values.');
