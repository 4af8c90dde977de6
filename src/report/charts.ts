import { isOutcome, outcomeFacts, type Outcome } from '../domain/runs/outcome.ts';
import { formatRateLimits } from '../domain/rates/rate-limit.ts';
import { html, type Insertion, type Markup } from './html.ts';
import type { Calls, Coverage, RunReport } from './report-figures.ts';
import { counted } from '../domain/text/counted.ts';
import { formatNumber } from '../domain/text/format-number.ts';
import { formatPercent } from '../domain/text/format-percent.ts';
import { fieldName, moment, words } from './wording.ts';

/** Width of all charts; the page scales them. */
const width = 760;
/** Labels are left of the bars, values right of them. */
const labelWidth = 170;
const valueWidth = 120;
const barWidth = width - labelWidth - valueWidth;

/** An entry of the legend. */
interface Key {
  readonly name: string;
  readonly tone: Tone;
}

/** Classes of the style sheet. */
type Tone = 'good' | 'plain' | 'quiet' | 'warning' | 'late' | 'other';

interface Chart {
  readonly id: string;
  readonly title: string;
  /** The chart as text for screen readers. The tables have every figure. */
  readonly description: string;
  readonly height: number;
  readonly keys: readonly Key[];
  readonly content: Insertion;
}

function figure({ id, title, description, height, keys, content }: Chart): Markup {
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
function at(position: number): string {
  return String(Math.round(position * 10) / 10);
}

/** The length of a bar; a value above 0 is always visible. */
function lengthOf(value: number, most: number, longest: number): number {
  return value === 0 || most === 0 ? 0 : Math.max(1.5, (value / most) * longest);
}

const toneOfGroup = {
  enriched: 'good',
  'without contact': 'plain',
  'not asked': 'quiet',
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

/** Rows by outcome, as bars. */
export function outcomesChart({ run, outcomes }: RunReport): Markup {
  const rows = Object.entries(outcomes);
  const most = Math.max(1, ...rows.map(([, number]) => number));
  const rowHeight = 26;
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
          ${formatNumber(number)} · ${formatPercent(number, run.rows)}
        </text>`;
    }),
  });
}

/** Two bars for each field: before and after. */
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

/** Settled and held credits, in one bar. */
export function creditsChart({ settled, held }: RunReport['credits']): Markup {
  const parts = [
    { name: 'records', value: settled.records, tone: 'plain' },
    { name: 'phones', value: settled.phones, tone: 'late' },
    { name: 'waterfalls', value: settled.waterfall, tone: 'other' },
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

const plotHeight = 150;
const plotLeft = 48;
const plotWidth = width - plotLeft - 10;

interface Series {
  readonly name: string;
  readonly tone: Tone;
  readonly values: readonly number[];
}

/** Calls over time, and one chart for each rate limit with the calls in its trailing window. */
export function callsCharts(calls: Calls): Markup[] {
  const { buckets, windows, bucket_seconds: bucketSeconds, first_at: first } = calls;
  if (first === null) return [];
  const others = buckets.map((bucket) => bucket.other_runs);
  const name = formatRateLimits([{ calls: 1, seconds: bucketSeconds }]).slice(2);
  return [
    timeline(calls, {
      id: 'calls-chart',
      title: `Calls per ${name}`,
      series: [
        { name: 'this run', tone: 'plain', values: buckets.map((bucket) => bucket.this_run) },
        ...(others.some((value) => value > 0)
          ? [{ name: 'other runs', tone: 'quiet', values: others } satisfies Series]
          : []),
      ],
    }),
    ...windows.map((window, index) =>
      timeline(calls, {
        id: `window-chart-${index}`,
        title:
          'Calls in the trailing window of ' +
          formatRateLimits([{ calls: window.limit, seconds: window.seconds }]),
        series: [{ name: 'calls of all runs in the window', tone: 'plain', values: window.trailing }],
        limit: window.limit,
      }),
    ),
  ];
}

function timeline(
  { buckets, first_at: first, last_at: last }: Calls,
  chart: {
    readonly id: string;
    readonly title: string;
    readonly series: readonly Series[];
    readonly limit?: number;
  },
): Markup {
  const { id, title, series, limit } = chart;
  const totals = buckets.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const peak = Math.max(0, ...totals);
  const top = Math.max(1, peak, limit ?? 0) * 1.08;
  const step = plotWidth / Math.max(1, buckets.length);
  const y = (value: number): number => plotHeight + 8 - (value / top) * plotHeight;
  const bars = buckets.map((_, index) => {
    let below = 0;
    return series.map(({ values, tone }) => {
      const value = values[index] ?? 0;
      const height = lengthOf(value, top, plotHeight);
      below += height;
      return value === 0
        ? ''
        : html`<rect
            x="${at(plotLeft + index * step)}"
            y="${at(plotHeight + 8 - below)}"
            width="${at(Math.max(1, Math.min(step * 0.86, 40)))}"
            height="${at(height)}"
            class="${tone}"
          ></rect>`;
    });
  });
  const reference = limit ?? peak;
  return figure({
    id,
    title,
    description:
      `From ${moment(first ?? '')} to ${moment(last ?? '')}; at most ${counted(peak, 'call')}` +
      (limit === undefined ? '' : ` of ${formatNumber(limit)} allowed`),
    height: plotHeight + 34,
    keys: [
      ...series.map(({ name, tone }) => ({ name, tone })),
      ...(limit === undefined
        ? []
        : [{ name: `limit, ${formatNumber(limit)}`, tone: 'warning' } satisfies Key]),
    ],
    content: [
      html`<line
          x1="${plotLeft}"
          x2="${width - 10}"
          y1="${plotHeight + 8}"
          y2="${plotHeight + 8}"
          class="axis"
        ></line>
        <text x="${plotLeft - 8}" y="${plotHeight + 12}" class="end small">0</text>
        <text x="${plotLeft - 8}" y="${at(y(reference) + 4)}" class="end small"
          >${formatNumber(reference)}</text
        >
        <text x="${plotLeft}" y="${plotHeight + 28}" class="small">${moment(first ?? '')}</text>
        <text x="${width - 10}" y="${plotHeight + 28}" class="end small">${moment(last ?? '')}</text>`,
      bars,
      html`<line
        x1="${plotLeft}"
        x2="${width - 10}"
        y1="${at(y(reference))}"
        y2="${at(y(reference))}"
        class="${limit === undefined ? 'axis faint' : 'limit'}"
      ></line>`,
    ],
  });
}
