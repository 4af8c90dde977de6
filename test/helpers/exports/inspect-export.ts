import { recordedMapping } from '../../../src/ingest/columns/fields.ts';
import type { Field } from '../../../src/ingest/columns/fields.ts';
import { openExport, type ReadingOptions } from '../../../src/ingest/reading/open-export.ts';

/** How an export is read. */
interface InspectedExport {
  readonly encoding: string;
  readonly delimiter: string;
  readonly newline: string;
  readonly header: readonly string[];
  /** The recognised CRM, or the given name. */
  readonly source: string;
  /** Raw header → field. */
  readonly mapping: Readonly<Record<string, Field>>;
  /** Unused columns. */
  readonly warnings: readonly string[];
}

/** Reads an export as the product does before staging: encoding, dialect, source and the fields of its columns. */
export async function inspectExport(path: string, options: ReadingOptions = {}): Promise<InspectedExport> {
  const { file, layout, columns, warnings } = await openExport(path, options);
  return {
    encoding: file.encoding,
    delimiter: layout.dialect.delimiter,
    newline: layout.dialect.newline,
    header: layout.header,
    source: columns.source,
    mapping: recordedMapping(layout.header, columns),
    warnings,
  };
}
