const characters: Readonly<Record<string, string>> = {
  amp: '&',
  quot: '"',
  lt: '<',
  gt: '>',
  apos: "'",
  nbsp: ' ',
  szlig: 'ß',
  // Behind the letter that they mark: "&ouml;".
  uml: '\u0308',
  acute: '\u0301',
  grave: '\u0300',
  circ: '\u0302',
  tilde: '\u0303',
  cedil: '\u0327',
  ring: '\u030a',
  caron: '\u030c',
};
const entity =
  /&(?:(amp|quot|lt|gt|apos|nbsp|szlig)|([a-z])(uml|acute|grave|circ|tilde|cedil|ring|caron)|#(\d{1,6})|#x([\da-f]{1,5}));/gi;

/** `Berg &amp; S&ouml;hne`, `O&#39;Brien`: how web forms escape a text, which some CRMs keep. */
export function withoutHtmlEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    entity,
    (_, name?: string, letter?: string, mark?: string, decimal?: string, hexadecimal?: string) => {
      if (name !== undefined) return characters[name.toLowerCase()]!;
      if (mark !== undefined) return letter! + characters[mark.toLowerCase()]!;
      return String.fromCodePoint(decimal === undefined ? parseInt(hexadecimal!, 16) : Number(decimal));
    },
  );
}
