/**
 * One record of a CSV file as importers read it (RFC 4180), without its line end.
 *
 * A tab is quoted too, because Salesforce's Data Loader takes comma and tab for delimiters. Nothing is put before
 * formulas: an importer would store the apostrophe.
 */
export function csvLine(cells: readonly string[]): string {
  return cells.map(quoted).join(',');
}

/**
 * The same for people who open the file in a spreadsheet: a cell that it would calculate gets an apostrophe in front.
 */
export function spreadsheetLine(cells: readonly string[]): string {
  return csvLine(cells.map((cell) => (isFormula(cell) ? `'${cell}` : cell)));
}

function quoted(cell: string): string {
  return /[",\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** An international phone number begins as a formula does, and is harmless. */
function isFormula(cell: string): boolean {
  return /^[\s\0]*[=+\-@]/.test(cell) && !/^\+[0-9][0-9 ().-]*$/.test(cell);
}
