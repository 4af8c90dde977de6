import { describeColumns } from './column-map.ts';
import type { Field } from './known-exports.ts';
import { openExport, type ReadingOptions } from './open-export.ts';

/** How an export is read. */
export interface InspectedExport {
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

/**
 * Looks at an export without a database: what it is, and what would be taken from it.
 *
 * @throws Problem `export.*`, `mapping.*`
 */
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
