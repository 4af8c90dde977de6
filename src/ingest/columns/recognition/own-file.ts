import { importers, type Importer } from '../../../domain/crm/importer.ts';
import { UsageProblem, type Problem } from '../../../domain/problem.ts';
import { headerKey, headerName } from '../../../domain/text/header-name.ts';
import { sourceName } from '../mapping/mapping-file.ts';
import type { FirstRows } from '../fields.ts';

/** A file that `enrich export` has written. */
export interface OwnFile {
  /** The CRM of the contacts. */
  readonly source: string;
  /** Names of the column of record ids. */
  readonly idNames: readonly string[];
  /**
   * Position of the column that names the CRM of each row, from 0; undefined in an import file, which is for one CRM.
   */
  readonly sourceColumn: number | undefined;
}

/** Columns that only `enrich export` writes, besides the name of the CRM. */
const ownColumns = ['emailstatus', 'organizationdomain', 'personid', 'enrichedat', 'runid'];

/**
 * Recognises files of `enrich export`: contacts as CSV, and import files of a CRM, which have the record id and some
 * columns of the CRM's importer.
 *
 * @returns undefined if another program wrote the file
 * @throws Problem `export.mixed-sources`
 */
export function recogniseOwnFile(path: string, { header, rows }: FirstRows): OwnFile | undefined {
  const sourceColumn = header.map(headerKey).indexOf('source');
  const source = rows[0]?.[sourceColumn]?.trim() ?? '';
  if (isOwnExport(header) && sourceName.test(source)) {
    if (rows.some((row) => row[sourceColumn]?.trim() !== source)) throw mixedSources(path);
    return { source, idNames: ['contact_id'], sourceColumn };
  }
  const [idName = '', ...names] = header.map(headerName);
  const importer = Object.values<Importer>(importers).find(
    ({ idHeader, idInOtherLanguages = [], idPattern, columns }) =>
      [idHeader, ...idInOtherLanguages].includes(idName) &&
      // `Id, FirstName, LastName, Email` can be a table of any program.
      rows.every(([id = '']) => idPattern.test(id.trim())) &&
      names.length > 0 &&
      names.every((name) =>
        Object.values(columns).some((column) =>
          [column.header, ...(column.inOtherLanguages ?? [])].includes(name),
        ),
      ),
  );
  return importer && { source: importer.source, idNames: [idName], sourceColumn: undefined };
}

/** Whether the columns are those of `enrich export`, which writes an apostrophe before formulas. */
export function isOwnExport(header: readonly string[]): boolean {
  const keys = header.map(headerKey);
  return keys[0] === 'source' && keys.includes('contactid') && ownColumns.some((name) => keys.includes(name));
}

/** Contacts of two CRMs can have one id. */
export function mixedSources(path: string): Problem {
  return new UsageProblem('export.mixed-sources', 'the file holds contacts of several sources', {
    where: `${path}, column source`,
    next: 'export one source at a time: enrich export --source NAME; or name one for all rows: --source NAME',
  });
}
