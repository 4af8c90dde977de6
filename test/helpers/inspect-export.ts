import { describeColumns } from '../../src/ingest/columns/column-map.ts';
import type { Field } from '../../src/ingest/columns/known-exports.ts';
import { openExport, type ReadingOptions } from '../../src/ingest/reading/open-export.ts';

/** How an export is read. */
interface InspectedExport {
  readonly encoding: string;
  readonly delimiter: string;
  readonly lineEnds: string;
  readonly header: readonly string[];
  /** The recognised CRM, or the name that was given. */
  readonly source: string;
  /** Raw header → field. */
  readonly mapping: Readonly<Record<string, Field>>;
  /** Columns that nothing is taken from. */
  readonly ignored: readonly string[];
  readonly warnings: readonly string[];
}

/** What the product decides of an export before it stages it, in one object: what it is, and what is taken from it. */
export async function inspectExport(path: string, options: ReadingOptions = {}): Promise<InspectedExport> {
  const { survey, layout, columns, warnings } = await openExport(path, options);
  return {
    encoding: survey.encoding,
    delimiter: layout.dialect.delimiter,
    lineEnds: layout.dialect.lineEnds,
    header: layout.header,
    source: columns.source,
    ...describeColumns(layout.header, columns),
    warnings,
  };
}
