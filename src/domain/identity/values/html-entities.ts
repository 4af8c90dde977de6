const characters: Readonly<Record<string, string>> = {
  amp: '&',
  quot: '"',
  lt: '<',
  gt: '>',
  apos: "'",
  nbsp: ' ',
};
const entity = /&(?:(amp|quot|lt|gt|apos|nbsp)|#(\d{1,6})|#x([\da-f]{1,5}));/gi;

/** `Berg &amp; Söhne`, `O&#39;Brien`: how web forms escape a text, which some CRMs keep. */
export function withoutHtmlEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(entity, (_, name?: string, decimal?: string, hexadecimal?: string) =>
    name === undefined
      ? String.fromCodePoint(decimal === undefined ? parseInt(hexadecimal!, 16) : Number(decimal))
      : characters[name.toLowerCase()]!,
  );
}
