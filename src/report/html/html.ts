/** HTML text, which is not escaped again. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template accepts: text is escaped, markup is not, lists are joined. */
export type Insertion = string | number | Markup | readonly Insertion[];

/** Builds HTML or SVG. Inserted text is escaped. */
export function html(strings: TemplateStringsArray, ...insertions: readonly Insertion[]): Markup {
  return new Markup(
    strings
      .map((text, index) => text + (index < insertions.length ? textOf(insertions[index]!) : ''))
      .join(''),
  );
}

/** Escapes for text and for attributes in single or double quotes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function textOf(insertion: Insertion): string {
  if (insertion instanceof Markup) return insertion.text;
  if (typeof insertion === 'string') return escapeHtml(insertion);
  if (typeof insertion === 'number') return String(insertion);
  return insertion.map(textOf).join('');
}
