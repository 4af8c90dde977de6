/**
 * Cells that a spreadsheet would calculate, as a pattern of JavaScript and PostgreSQL. Excel reads full-width signs as
 * well.
 */
export const formula = String.raw`^([\t\r]|\s*[=+\-@＝＋－＠])`;

/** An international phone number begins like a formula and is harmless. */
export const phoneNumber = String.raw`^\+[0-9][0-9 ().-]*$`;
