import { isFormula } from '../../domain/text/formula.ts';

/**
 * One record of a CSV file for importers (RFC 4180), without its line end.
 *
 * Tabs are quoted, because Salesforce's Data Loader reads comma and tab as delimiters. Formulas get no
 * apostrophe, because an importer would store it.
 */
export function csvLine(cells: readonly string[]): string {
  return cells.map(quoted).join(',');
}

/** One record for spreadsheets: a cell that a spreadsheet would calculate gets a leading apostrophe. */
export function spreadsheetLine(cells: readonly string[]): string {
  return csvLine(cells.map((cell) => (isFormula(cell) ? `'${cell}` : cell)));
}

function quoted(cell: string): string {
  return /[",\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
