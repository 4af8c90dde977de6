/** Facts about a run at its start, without personal data: Temporal shows them, and `file` has no names of people. */
interface RunStart {
  readonly runId: string;
  readonly file: string;
  /** Null: recognised when the file is read. */
  readonly source: string | null;
  /** The schedule that began the run; null: a command. */
  readonly schedule: string | null;
  /** Scheduled time of the run; for a command, when the run began. */
  readonly asOf: Date;
}

/** The longest summary that Temporal's UI shows. */
export const longestSummary = 180;

/** Summary and details of a run in Temporal's UI. They cannot change after the start, so they have no figures. */
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
    staticSummary: `enrich ${file}`.slice(0, longestSummary),
    staticDetails: markdownTable(rows),
  };
}

/** Search attributes of a run from its start on. */
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

/** A table of names and values, as Temporal's UI shows it. */
export function markdownTable(rows: readonly (readonly (string | number)[])[]): string {
  const lines = rows.map(([name = '', value = '']) => `| ${nameText(name)} | ${cellText(value)} |`);
  return ['| | |', '|---|---|', ...lines].join('\n');
}

/** Keeps names on one line: the UI would wrap names and not values. */
function nameText(name: string | number): string {
  return cellText(name).slice(0, longestSummary).replaceAll(' ', '\u00a0');
}

function cellText(value: string | number): string {
  return String(value).replaceAll('|', '\\|').replaceAll('\n', ' ');
}
