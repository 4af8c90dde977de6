import { formatRateLimits } from '../../domain/rates/rate-limit.ts';
import { counted } from '../../domain/text/counted.ts';
import { formatNumber } from '../../domain/text/format-number.ts';
import { at, figure, lengthOf, width, type Key, type Tone } from './chart-figure.ts';
import { html, type Markup } from './html.ts';
import type { Calls } from '../report-types.ts';
import { secondOf } from '../../domain/text/minute-of.ts';

const plotHeight = 150;
const plotLeft = 48;
const plotWidth = width - plotLeft - 10;

interface Series {
  readonly name: string;
  readonly tone: Tone;
  readonly values: readonly number[];
}

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
      `From ${secondOf(first ?? '')} to ${secondOf(last ?? '')}; at most ${counted(peak, 'call')}` +
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
        <text x="${plotLeft}" y="${plotHeight + 28}" class="small">${secondOf(first ?? '')}</text>
        <text x="${width - 10}" y="${plotHeight + 28}" class="end small">${secondOf(last ?? '')}</text>`,
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
