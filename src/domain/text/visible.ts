/**
 * Characters that a terminal obeys instead of showing them, or that change the order in which it shows others: the
 * controls of ASCII and of Latin-1 but for tabulator and line feed, marks of direction, line and paragraph separators,
 * and what never stands in text that is exchanged.
 */
const obeyed =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufff9-\ufffb]/g;

/**
 * Shows control characters instead of sending them: ESC as `\u001b`. Line feeds and tabulators stay.
 *
 * The form is that of JSON: a JSON text means the same afterwards.
 */
export function visible(text: string): string {
  return text.replace(obeyed, escaped);
}

/** The same for text that must not begin a new line: line feeds and tabulators are shown as well. */
export function visibleInLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
