import { html, type Insertion, type Markup } from './html.ts';

/** Width of all charts; the page scales them. */
export const width = 760;
export interface Key {
  readonly name: string;
  readonly tone: Tone;
}

/** Classes of the style sheet. */
export type Tone = 'good' | 'plain' | 'quiet' | 'warning' | 'late' | 'other';

interface Chart {
  readonly id: string;
  readonly title: string;
  /** The chart as text for screen readers. The tables have every figure. */
  readonly description: string;
  readonly height: number;
  readonly keys: readonly Key[];
  readonly content: Insertion;
}

export function figure({ id, title, description, height, keys, content }: Chart): Markup {
  const legend =
    keys.length === 0
      ? ''
      : html`<ul class="legend">
          ${keys.map(({ name, tone }) => html`<li><span class="swatch ${tone}"></span>${name}</li> `)}
        </ul>`;
  return html`<figure>
    <figcaption>${title}</figcaption>
    ${legend}
    <svg
      role="img"
      aria-labelledby="${id}-title ${id}-description"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="xMinYMin meet"
    >
      <title id="${id}-title">${title}</title>
      <desc id="${id}-description">${description}</desc>
      ${content}
    </svg>
  </figure>`;
}

/** A coordinate with one decimal, `12.5`. */
export function at(position: number): string {
  return String(Math.round(position * 10) / 10);
}

/** The length of a bar; a value above 0 is always visible. */
export function lengthOf(value: number, most: number, longest: number): number {
  return value === 0 || most === 0 ? 0 : Math.max(1.5, (value / most) * longest);
}
