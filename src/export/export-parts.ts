import { Readable } from 'node:stream';
import { z } from 'zod';
import { count, type SchemaOutput } from '../contract/schema-fields.ts';
import type { Warehouse } from '../db/database.ts';
import { UsageProblem } from '../domain/problem.ts';
import { newestCursor } from '../people/change-feed.ts';
import { exportTable } from './export-table.ts';

export const partsManifest = z
  .strictObject({
    cursor: z.string().nullable().describe('Cursor after the newest part. Null: no contact has changed yet.'),
    parts: z
      .array(
        z.strictObject({
          file: z.string().describe('Name of the Parquet file in the folder.'),
          rows: count.describe('Contacts that changed or were deleted.'),
          since: z.string().nullable().describe('Cursor after which the part begins. Null: all contacts.'),
          cursor: z.string().describe('Cursor up to which the part has every change.'),
        }),
      )
      .describe('Parts of the change feed, the oldest first.'),
  })
  .describe('The change feed in parts, as in the manifest.json beside them.');
export type PartsManifest = SchemaOutput<typeof partsManifest>;

export interface PartsFolder {
  readonly shown: string;
  /** Undefined if the file does not exist. */
  readonly read: (name: string) => Promise<string | undefined>;
  readonly write: (bytes: Readable, name: string) => Promise<void>;
}

/**
 * Writes what has changed since the newest part as a new file, then lists it in the manifest. After a crash in between,
 * the next part has these changes again.
 */
export async function exportNextPart(warehouse: Warehouse, folder: PartsFolder): Promise<PartsManifest> {
  const written = await readManifest(folder);
  const since = written.cursor;
  const cursor = (await newestCursor(warehouse.database)) ?? null;
  if (cursor === null || cursor === since) return written;
  const file = `changes-${padded(since ?? '0')}-${padded(cursor)}.parquet`;
  const choice = { since: since ?? undefined };
  const rows = await exportTable(warehouse, { table: 'changes', format: 'parquet', choice }, (bytes) =>
    folder.write(bytes, file),
  );
  const manifest = { cursor, parts: [...written.parts, { file, rows: rows ?? 0, since, cursor }] };
  await folder.write(Readable.from([`${JSON.stringify(manifest, null, 2)}\n`]), manifestName);
  return manifest;
}

const manifestName = 'manifest.json';

/** Pads a cursor with zeros, so that file names sort in the order of the feed. */
const padded = (cursor: string): string => cursor.padStart(18, '0');

/** Reads the manifest; empty in a new folder. @throws UsageProblem for the manifest of another program */
async function readManifest(folder: PartsFolder): Promise<PartsManifest> {
  const text = await folder.read(manifestName);
  if (text === undefined) return { cursor: null, parts: [] };
  try {
    return partsManifest.parse(JSON.parse(text));
  } catch (cause) {
    throw new UsageProblem('output.not-empty', 'its manifest.json is not of parts that enrich export wrote', {
      where: folder.shown,
      next: 'name another folder with --output',
      cause,
    });
  }
}
