import { z } from 'zod';
import { count, time, type Fields } from '../contract/schema-fields.ts';
import { fieldDecisions, fieldPolicies } from '../domain/crm/field-policy.ts';
import { importFields, importerNames } from '../domain/crm/crm.ts';
import type { ImportManifest } from '../export/crm-import/export-for-crm.ts';
import type { WrittenPart } from '../export/crm-import/part-writer.ts';
import { exportFormatNames } from '../export/export-format.ts';
import { exportedTableNames } from '../export/export-table.ts';
import type { FeedEntry } from '../people/change-feed.ts';

const cursor = z
  .string()
  .nullable()
  .describe('Cursor for the next export with --since. Null: no contact has changed yet.');

const suppressed = count.describe(
  'Chosen contacts that are left out because they are on the suppression list.',
);

export const exportedFile = z
  .strictObject({
    table: z.enum(exportedTableNames).describe('What a row is.'),
    format: z.enum(exportFormatNames).describe('Form of the file.'),
    output: z.string().describe('The file, or the address in S3.'),
    rows: count.describe('Rows of the file, without the header.'),
    suppressed,
    cursor,
  })
  .describe('A file that was written.');

const partFields = {
  file: z.string().describe('Name of the file in the folder.'),
  rows: count.describe('Records, without the header.'),
  bytes: count.describe('Size in bytes.'),
  sha256: z.string().describe('SHA-256 of the content, in hexadecimal digits.'),
} satisfies Fields<WrittenPart>;

const part = z.strictObject(partFields).optional();

export const importManifest = z
  .strictObject({
    importer: z.enum(importerNames).describe('CRM that imports the files.'),
    source: z.string().describe('CRM of the contacts.'),
    policies: z
      .record(z.enum(importFields), z.enum(fieldPolicies))
      .describe('Policy of each field of a contact.'),
    cursor,
    instruction: z.string().describe('How to import the files.'),
    commands: z.array(z.string()).describe('A command for each file. Empty: the CRM has none.'),
    suppressed,
    contacts: count.describe('Contacts that were compared.'),
    without_record_id: count.describe('Contacts without a record id of the CRM, which are in no file.'),
    opted_out: count.describe(
      'Contacts whose newest export says that they opted out of e-mail or of all processing: they are in no file.',
    ),
    without_cells: count.describe(
      'Contacts without an update, because the cells of their newest export were removed.',
    ),
    without_modified_time: count.describe(
      'Contacts with a field of the policy overwrite-older, which acts as fill, because their newest export has no ' +
        'modified time that can be read.',
    ),
    missing_columns: z
      .array(z.string())
      .describe(
        "The CRM's names of fields that the source's exports have no column for: they are in no file.",
      ),
    decisions: z
      .partialRecord(z.enum(fieldDecisions), count)
      .describe('Number of fields by decision: contacts × fields in sum.'),
    parts: z
      .array(
        z.strictObject({
          ...partFields,
          columns: z.array(z.string()).describe('Columns that the file changes.'),
        }),
      )
      .describe(
        'Files to import: one for each set of changed columns, in parts of the size that the CRM takes.',
      ),
    conflicts: part.describe('Report of the decisions. Absent: there is none.'),
    job_changes: part.describe('People who changed jobs. Absent: no person did.'),
  } satisfies Fields<ImportManifest>)
  .describe('Import files of a CRM, as in the manifest.json beside them.');

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
