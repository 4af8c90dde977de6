export interface Month {
  readonly month: number;
  /** Rows by table. */
  readonly tables: Readonly<Record<string, number>>;
  /** Milliseconds: medians, and of admissions the 99th percentile too. */
  readonly times: Readonly<Record<string, number>>;
}

const [width, height, left, bottom] = [720, 220, 70, 34];
const colours = ['#3564c4', '#c4572b', '#2f8f5b', '#8a4fb8', '#a88a1b', '#4d6a78'];

/** Draws what a night costs, and the rows of each table, by month. @returns an SVG document */
export function growthPicture(months: readonly Month[]): string {
  const panels = [
    panel('milliseconds, on a machine of constant speed', months, ({ times }) => times, [
      'plan',
      'reconcile',
      'prune',
      'record',
      'admission p99',
    ]),
    panel('rows under retention', months, ({ tables }) => tables, [
      'run_rows',
      'raw_answers',
      'changes',
      'prune_candidates',
    ]),
    panel('rows that stay', months, ({ tables }) => tables, [
      'lookup_history',
      'attempt_people',
      'observation_log',
      'contacts',
    ]),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${panels.length * height}" ` +
    `font-family="sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="#fff"/>` +
    panels.map((each, index) => `<g transform="translate(0 ${index * height})">${each}</g>`).join('') +
    '</svg>\n'
  );
}

function panel(
  title: string,
  months: readonly Month[],
  figuresOf: (month: Month) => Readonly<Record<string, number>>,
  names: readonly string[],
): string {
  const most = Math.max(1, ...months.flatMap((month) => names.map((name) => figuresOf(month)[name] ?? 0)));
  const x = (index: number): number => left + (index * (width - left - 150)) / Math.max(1, months.length - 1);
  const y = (value: number): number => height - bottom - (value * (height - bottom - 30)) / most;
  const lines = names.map((name, index) => {
    const points = months.map(
      (month, at) => `${x(at).toFixed(1)},${y(figuresOf(month)[name] ?? 0).toFixed(1)}`,
    );
    const colour = colours[index]!;
    return (
      `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>` +
      `<text x="${width - 140}" y="${40 + 18 * index}" fill="${colour}">${name}</text>`
    );
  });
  return (
    `<text x="${left}" y="18" font-weight="bold">${title}</text>` +
    `<text x="${left - 8}" y="${y(most) + 4}" text-anchor="end">${Math.round(most).toLocaleString('en')}</text>` +
    `<text x="${left - 8}" y="${y(0) + 4}" text-anchor="end">0</text>` +
    `<path d="M${left} ${y(most)}V${y(0)}H${width - 150}" fill="none" stroke="#999"/>` +
    `<text x="${left}" y="${height - 12}">month 1</text>` +
    `<text x="${width - 150}" y="${height - 12}" text-anchor="end">month ${months.length}</text>` +
    lines.join('')
  );
}
