import { deliveryKindNames, deliveryKinds } from '../../domain/late-results/delivery-kinds.ts';
import { isOutcome, outcomeFacts, type Outcome } from '../../domain/runs/outcome.ts';
import { at, figure, lengthOf, width, type Key, type Tone } from './chart-figure.ts';
import { html, type Markup } from './html.ts';
import type { Coverage, RunReport } from '../report-types.ts';
import { counted } from '../../domain/text/counted.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import { fieldName, words } from '../wording.ts';

/** Labels are left of the bars, values right of them. */
const labelWidth = 170;
const valueWidth = 120;
const barWidth = width - labelWidth - valueWidth;

const toneOfGroup = {
  enriched: 'good',
  'without contact': 'plain',
  'not asked': 'quiet',
  'cannot be asked': 'quiet',
  'needs a person': 'warning',
} as const satisfies Readonly<Record<(typeof outcomeFacts)[Outcome]['group'], Tone>>;

const keysOfOutcomes: readonly Key[] = [
  { name: 'enriched', tone: toneOfGroup.enriched },
  { name: 'asked for, without a contact', tone: toneOfGroup['without contact'] },
  { name: 'not asked for', tone: toneOfGroup['not asked'] },
  { name: 'needs a person', tone: toneOfGroup['needs a person'] },
];

/** Rows without an outcome count as not asked. */
function toneOf(outcome: string): Tone {
  return toneOfGroup[isOutcome(outcome) ? outcomeFacts[outcome].group : 'not asked'];
}

export function outcomesChart({ run, outcomes }: RunReport): Markup {
  const rows = Object.entries(outcomes);
  const most = Math.max(1, ...rows.map(([, number]) => number));
  const rowHeight = 26;
  const whole = rows.reduce((sum, [, number]) => sum + number, 0);
  return figure({
    id: 'outcomes-chart',
    title: `Outcomes of ${counted(run.rows, 'row')}`,
    description: rows.map(([outcome, number]) => `${words(outcome)}: ${formatNumber(number)}`).join('; '),
    height: rows.length * rowHeight,
    keys: keysOfOutcomes.filter(({ tone }) => rows.some(([outcome]) => toneOf(outcome) === tone)),
    content: rows.map(([outcome, number], index) => {
      const length = lengthOf(number, most, barWidth);
      const middle = at(index * rowHeight + 17);
      return html`<text x="${labelWidth - 12}" y="${middle}" class="end">${words(outcome)}</text>
        <rect
          x="${labelWidth}"
          y="${index * rowHeight + 4}"
          width="${at(length)}"
          height="18"
          class="${toneOf(outcome)}"
        ></rect>
        <text x="${at(labelWidth + length + 8)}" y="${middle}" class="value">
          ${formatNumber(number)} · ${formatPercent(number, whole)}
        </text>`;
    }),
  });
}

export function coverageChart({ contacts, fields }: Coverage): Markup {
  const rowHeight = 38;
  return figure({
    id: 'coverage-chart',
    title: 'Share of contacts with a value',
    description: fields
      .map(
        ({ field, before, after }) =>
          `${fieldName(field)}: ${before === null ? 'not in the export' : formatPercent(before, contacts)} before, ` +
          `${formatPercent(after, contacts)} after`,
      )
      .join('; '),
    height: fields.length * rowHeight,
    keys: [
      { name: 'before, in the export', tone: 'quiet' },
      { name: 'after, with the warehouse', tone: 'good' },
    ],
    content: fields.map(({ field, before, after }, index) => {
      const top = index * rowHeight;
      const bars = [
        { value: before, y: top + 3, tone: 'quiet' },
        { value: after, y: top + 18, tone: 'good' },
      ];
      return html`<text x="${labelWidth - 12}" y="${top + 21}" class="end">${fieldName(field)}</text>
        ${bars.map(({ value, y, tone }) => {
          const length = lengthOf(value ?? 0, contacts, barWidth);
          return html`<rect x="${labelWidth}" y="${y}" width="${barWidth}" height="13" class="track"></rect>
            <rect x="${labelWidth}" y="${y}" width="${at(length)}" height="13" class="${tone}"></rect>
            <text x="${labelWidth + barWidth + 8}" y="${y + 11}" class="value small">
              ${value === null ? '–' : formatPercent(value, contacts)}
            </text>`;
        })}`;
    }),
  });
}

const tonesOfDeliveries: readonly Tone[] = ['late', 'other'];

export function creditsChart({ settled, held }: RunReport['credits']): Markup {
  const parts = [
    { name: 'records', value: settled.records, tone: 'plain' },
    ...deliveryKindNames.map((kind, index) => ({
      name: deliveryKinds[kind].creditsName,
      value: settled[kind],
      tone: tonesOfDeliveries[index % tonesOfDeliveries.length],
    })),
    { name: 'accepted without a bill', value: settled.decided, tone: 'quiet' },
    { name: 'held', value: held.total, tone: 'warning' },
  ].filter(({ value }) => Number(value) > 0) as { name: string; value: string; tone: Tone }[];
  // Only for the lengths of bars; printed figures stay decimals.
  const all = parts.reduce((sum, { value }) => sum + Number(value), 0);
  let left = 0;
  return figure({
    id: 'credits-chart',
    title: 'Credits, settled and held',
    description:
      parts.map(({ name, value }) => `${name}: ${formatNumber(value)}`).join('; ') || 'No credits.',
    height: 34,
    keys: parts.map(({ name, value, tone }) => ({ name: `${name}, ${formatNumber(value)}`, tone })),
    content: [
      html`<rect x="0" y="4" width="${width}" height="26" class="track"></rect>`,
      ...parts.map(({ value, tone }) => {
        const length = lengthOf(Number(value), all, width);
        const rect = html`<rect
          x="${at(left)}"
          y="4"
          width="${at(length)}"
          height="26"
          class="${tone} part"
        ></rect>`;
        left += length;
        return rect;
      }),
    ],
  });
}
