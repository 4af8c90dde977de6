/**
 * Cells that get a leading apostrophe in files for spreadsheets, as a pattern of JavaScript and PostgreSQL: those that
 * a spreadsheet would calculate (Excel reads full-width signs as well), also behind apostrophes.
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
