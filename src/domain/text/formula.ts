/**
 * Cells that get a leading apostrophe in files for spreadsheets, as a pattern of JavaScript and PostgreSQL: those that
 * a spreadsheet would calculate (Excel reads full-width signs as well), and those that look as if they had got the
 * apostrophe already, so that `withoutApostrophe` gives every cell back.
 */
export const formula = String.raw`^\x27*([\t\r]|\s*[=+\-@＝＋－＠])`;

/** An international phone number begins like a formula and is harmless. */
export const phoneNumber = String.raw`^\+[0-9][0-9 ().-]*$`;

const formulaPattern = new RegExp(formula);
const phonePattern = new RegExp(phoneNumber);

/** Whether a spreadsheet would calculate the cell, and needs an apostrophe before it. */
export function isFormula(cell: string): boolean {
  return formulaPattern.test(cell.replaceAll('\0', '')) && !phonePattern.test(cell);
}

/** A cell of a file for spreadsheets as it was before it got its apostrophe. */
export function withoutApostrophe(cell: string): string {
  return cell.startsWith("'") && formulaPattern.test(cell) ? cell.slice(1) : cell;
}
