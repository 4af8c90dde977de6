/**
 * Pattern, for JavaScript and PostgreSQL, of cells that a spreadsheet would calculate. They get a leading apostrophe.
 * Excel also accepts full-width signs, and signs behind apostrophes.
 */
export const formula = String.raw`^\x27*([\t\r]|\s*[=+\-@＝＋－＠])`;

/** Pattern of an international phone number. It begins like a formula but is harmless. */
export const phoneNumber = String.raw`^\+[0-9][0-9 ().-]*$`;

const formulaPattern = new RegExp(formula);
const phonePattern = new RegExp(phoneNumber);

/** True if a spreadsheet would calculate the cell. Such a cell needs an apostrophe before it. */
export function isFormula(cell: string): boolean {
  return formulaPattern.test(cell.replaceAll('\0', '')) && !phonePattern.test(cell);
}
