/** Facts about a run that Temporal shows. None is personal data: `file` was checked for names of people. */
interface RunStart {
  readonly runId: string;
  readonly file: string;
  /** The CRM of the export. Null if reading the file will recognise it. */
  readonly source: string | null;
  /** The schedule that began the run. Null if a command did. */
  readonly schedule: string | null;
  /** Scheduled time of the run. For a command, the time at which the run began. */
  readonly asOf: Date;
}

/** Maximum length of a summary in Temporal's UI. */
export const maxSummaryLength = 180;

/** Summary and details of a run in Temporal's UI. Both stay unchanged after the start, so they contain no counts. */
export function describeStart({ runId, file, source, schedule, asOf }: RunStart): {
  readonly staticSummary: string;
  readonly staticDetails: string;
} {
  const rows = [
    ['run', `\`${runId}\``],
    ['file', file],
    ...(source === null ? [] : [['source', source]]),
    ['begun by', schedule === null ? 'a command' : `schedule ${schedule}`],
    ['as of', asOf.toISOString()],
    ['status and figures', `Current Details; without a worker: \`enrich status ${runId}\``],
    ['steer', `the updates of this workflow, or \`enrich pause ${runId}\`, \`resume\`, \`cancel\``],
  ];
  return {
    staticSummary: `enrich ${file}`.slice(0, maxSummaryLength),
    staticDetails: markdownTable(rows),
  };
}

/** Search attributes that a run has from its start on. */
export function startAttributes({ file, source, schedule, asOf }: Omit<RunStart, 'runId'>) {
  return [
    { key: { name: 'EnrichmentStatus', type: 'KEYWORD' }, value: 'ingesting' },
    { key: { name: 'EnrichmentFile', type: 'KEYWORD' }, value: file },
    { key: { name: 'EnrichmentAsOf', type: 'DATETIME' }, value: asOf },
    ...(source === null
      ? []
      : [{ key: { name: 'EnrichmentSource', type: 'KEYWORD' } as const, value: source }]),
    ...(schedule === null
      ? []
      : [{ key: { name: 'EnrichmentSchedule', type: 'KEYWORD' } as const, value: schedule }]),
  ] as const;
}

/** Formats names and values as a Markdown table for Temporal's UI. */
export function markdownTable(rows: readonly (readonly (string | number)[])[]): string {
  const lines = rows.map(([name = '', value = '']) => {
    // A name stays on one line: Temporal's UI would wrap the name and not the value.
    const unbroken = cellText(name).slice(0, maxSummaryLength).replaceAll(' ', '\u00a0');
    return `| ${unbroken} | ${cellText(value)} |`;
  });
  return ['| | |', '|---|---|', ...lines].join('\n');
}

function cellText(value: string | number): string {
  return String(value).replaceAll('|', '\\|').replaceAll('\n', ' ');
}
