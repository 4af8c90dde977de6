import { z } from 'zod';
import { count, time, type Fields } from '../contract/schema-fields.ts';
import { cursor, suppressed } from '../export/crm-import/import-manifest.ts';
import { exportFormatNames } from '../export/export-format.ts';
import { exportedTableNames } from '../export/export-table.ts';
import type { FeedEntry } from '../people/change-feed.ts';

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
