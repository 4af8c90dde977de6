import { z } from 'zod';
import type { Retained } from '../domain/runs/retention.ts';
import type { ErasureFigures } from '../privacy/erase.ts';
import type { PruneFigures } from '../privacy/prune.ts';
import type { SuppressionEntry } from '../suppression/suppression-list.ts';
import { count, time, type Fields } from './fields.ts';

export const suppressAdd = z
  .strictObject({
    added: count.describe('New entries.'),
    present: count.describe('Identifiers that were on the list before.'),
  })
  .describe('Identifiers that were put on the suppression list.');

export const suppressImport = z
  .strictObject({
    added: count.describe('New entries.'),
    nameless_rows: count.describe('Rows of the file without any identifier.'),
  })
  .describe('People of a file who were put on the suppression list.');

export const suppressRemove = z
  .strictObject({
    removed: count.describe('Entries that were removed.'),
    absent: count.describe('Identifiers that were not on the list.'),
  })
  .describe('Identifiers that were taken off the suppression list.');

export const suppressCheck = z
  .strictObject({
    listed: z.array(z.boolean()).describe('Whether each person is on the list, in the order of the command.'),
  })
  .describe('Whether people are on the suppression list.');

const entryFields = {
  entry: z.string().describe('First characters of the hash of the entry.'),
  kind: z
    .enum(['email', 'profile', 'person', 'hash', 'name', 'domain', 'record'])
    .describe('Kind of the identifier.'),
  domain: z.string().nullable().describe('The domain of an entry of the kind "domain", otherwise null.'),
  reason: z.string().nullable().describe('Why. Null: no reason was given.'),
  added_by: z.string().describe('Who added the entry.'),
  added_at: time.describe('When the entry was added.'),
} satisfies Fields<SuppressionEntry>;

export const suppressList = z
  .strictObject({
    counts: z.record(z.string(), count).describe('Number of entries by kind.'),
    entries: z.array(z.strictObject(entryFields)).describe('The newest entries first, without names.'),
  })
  .describe('The suppression list.');

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

const kept = (what: string) => count.describe(`${what} that are older and are still needed.`);
const keptFor = (what: string) =>
  z.number().optional().describe(`How long ${what} are kept, in seconds. Absent: forever.`);
const bodies = (whose: string) =>
  z
    .strictObject({
      count: count.describe('Number of bodies.'),
      bytes: count.describe('Their size in bytes.'),
    })
    .describe(`Bodies of ${whose}.`);

const prunedRows = z.strictObject({
  runs: count.describe('Number of runs.'),
  rows: count.describe('Number of rows.'),
});

const prunedFields = {
  answers: bodies('answers'),
  deliveries: bodies('deliveries with effect'),
  quarantine: bodies('orphaned and quarantined deliveries'),
  staging: prunedRows.describe('Personal data in rows of ended runs.'),
  rows: prunedRows.describe('Rows of ended runs.'),
  observations: z.strictObject({ count: count.describe('Number.') }).describe('Replaced observations.'),
  changes: z.strictObject({ count: count.describe('Number.') }).describe('Entries of the change feed.'),
  kept: z
    .strictObject({
      answers: kept('Bodies of answers'),
      deliveries: kept('Bodies of deliveries with effect'),
      quarantine: kept('Bodies of orphaned and quarantined deliveries'),
      runs: kept('Runs with personal data in rows'),
      rows: kept('Runs with rows'),
    })
    .describe('Data that open runs, calls or deliveries still need.'),
  held: z
    .array(
      z.strictObject({
        run_id: z.string().describe('The run.'),
        has_ended: z.boolean().describe('Whether the run has ended.'),
        unknown_calls: count.describe('Calls whose cost is not known: `enrich attempts list RUN`.'),
        awaiting_calls: count.describe('Calls that await late results.'),
        unread_deliveries: count.describe('Deliveries that wait to be applied: `enrich inbox list RUN`.'),
        waits_for: z
          .string()
          .nullable()
          .describe('The earlier run of the source whose cells the rows of this run outdate. Null: none.'),
      }),
    )
    .describe('The runs of this data, the oldest first, and why it is still needed.'),
} satisfies Fields<PruneFigures>;

export const prune = z
  .strictObject({
    removed: z.boolean().describe('True: the data was removed. False: it would be removed with --yes.'),
    retention: z
      .strictObject({
        answers: keptFor('bodies of answers'),
        deliveries: keptFor('bodies of deliveries with effect'),
        quarantine: keptFor('bodies of orphaned and quarantined deliveries'),
        staging: keptFor('personal data in rows of ended runs'),
        rows: keptFor('rows of ended runs'),
        observations: keptFor('replaced observations'),
        changes: keptFor('entries of the change feed'),
      } satisfies Record<Retained, z.ZodType>)
      .describe('How long data is kept.'),
    ...prunedFields,
  })
  .describe('Data that is older than its retention.');
