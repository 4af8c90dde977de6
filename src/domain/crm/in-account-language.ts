import { headerKey, headerName } from '../text/header-name.ts';
import type { Importer, ImportColumn } from './importer.ts';

/**
 * Replaces an importer's English headers by those of the account's language, because importers match columns by the
 * account's labels. Exports show these labels. A field that no export has keeps its English header. Pure.
 *
 * @param exports the headers of the CRM's exports, the newest first
 */
export function inAccountLanguage(importer: Importer, exports: readonly (readonly string[])[]): Importer {
  // Reversed, so that of two columns with one key the first counts, as for cells.
  const labels = exports.map(
    (header) => new Map([...header].reverse().map((name) => [headerKey(name), headerName(name)])),
  );

  /** The newest export that has the field decides. `E-Mail` and `Email` have one key, so the exact label goes first. */
  const labelOf = (english: readonly string[], local: readonly string[] = []): string => {
    for (const label of labels) {
      const has = (name: string): boolean => label.get(headerKey(name)) !== undefined;
      const isExact = (name: string): boolean => label.get(headerKey(name)) === name;
      if (isExact(english[0]!)) break;
      const exact = local.find(isExact);
      if (exact !== undefined) return exact;
      if (english.some(has)) break;
      const own = local.find(has);
      if (own !== undefined) return label.get(headerKey(own))!;
    }
    return english[0]!;
  };

  const columns = Object.entries<ImportColumn>(importer.columns).map(([field, column]) => {
    const { header, alsoExportedAs = [], inOtherLanguages } = column;
    const label = labelOf([header, ...alsoExportedAs], inOtherLanguages);
    return [field, { ...column, header: label, alsoExportedAs: [header, ...alsoExportedAs] }];
  });
  return {
    ...importer,
    idHeader: labelOf([importer.idHeader], importer.idInOtherLanguages),
    columns: Object.fromEntries(columns) as Importer['columns'],
  };
}
