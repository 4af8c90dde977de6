/**
 * The length of the longest text; 0 without texts. Not by `Math.max(...)`: a function takes some 100,000 arguments, and
 * a table can have more rows.
 */
export function longest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, text.length), 0);
}
