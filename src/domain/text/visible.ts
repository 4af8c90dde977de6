/**
 * Characters that control a terminal or change the order of text: control characters of ASCII and Latin-1
 * except tab and line feed, direction marks, line and paragraph separators, and noncharacters.
 */
const controlling =
  // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufff9-\ufffb]/g;

/**
 * Escapes control characters: ESC becomes `\u001b`. Line feeds and tabs stay.
 *
 * The escapes are those of JSON, so that a JSON text keeps its meaning.
 */
export function visible(text: string): string {
  return text.replace(controlling, escaped);
}

/** As `visible`, for a single line: line feeds and tabs are escaped too. */
export function visibleInLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
