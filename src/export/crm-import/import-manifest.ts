import { z } from 'zod';
import { count, type SchemaOutput } from '../../contract/schema-fields.ts';
import { importFields, importerNames } from '../../domain/crm/crm.ts';
import { fieldDecisions, fieldPolicies } from '../../domain/crm/field-policy.ts';

export const cursor = z
  .string()
  .nullable()
  .describe('Cursor for the next export with --since. Null: no contact has changed yet.');

export const suppressed = count.describe(
  'Chosen contacts that are left out because they are on the suppression list.',
);

const partFields = {
  file: z.string().describe('Name of the file in the folder.'),
  rows: count.describe('Records, without the header.'),
  bytes: count.describe('Size in bytes.'),
  sha256: z.string().describe('SHA-256 of the content, in hexadecimal digits.'),
};

const part = z.strictObject(partFields);
export type WrittenPart = SchemaOutput<typeof part>;

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
    companies: z
      .array(part)
      .describe('Files of companies to import. Empty: the importer takes none, or no company is known.'),
    companies_instruction: z
      .string()
      .optional()
      .describe('How to import the files of companies. Absent: the importer takes none.'),
    companies_left_out: count.describe(
      'Companies of the contacts without a domain of their own, or with a domain or name of another company.',
    ),
    conflicts: part.optional().describe('Report of the decisions. Absent: there is none.'),
    job_changes: part.optional().describe('People who changed jobs. Absent: no person did.'),
  })
  .describe('Import files of a CRM, as in the manifest.json beside them.');

export type ImportManifest = SchemaOutput<typeof importManifest>;
