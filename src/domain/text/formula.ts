/** Pattern (JavaScript, PostgreSQL) of formulas. Excel accepts full-width signs, and signs behind apostrophes. */
export const formulaPattern = String.raw`^\x27*([\t\r]|\s*[=+\-@＝＋－＠])`;

/** Pattern of an international phone number. It begins like a formula but is harmless. */
export const phonePattern = String.raw`^\+[0-9][0-9 ().-]*$`;

const formulaRegExp = new RegExp(formulaPattern);
const phoneRegExp = new RegExp(phonePattern);

/** True if a spreadsheet would calculate the cell. Such a cell needs an apostrophe before it. */
export function isFormula(cell: string): boolean {
  return formulaRegExp.test(cell.replaceAll('\0', '')) && !phoneRegExp.test(cell);
}
