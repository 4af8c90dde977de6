import { parseDuration } from '../text/duration.ts';
import { UsageProblem, type Problem } from '../problem.ts';

/**
 * Kinds of data with a retention period: bodies of answers, bodies of applied deliveries, bodies of quarantined
 * deliveries (`quarantine`), personal data in rows of exports (`staging`), these rows, replaced
 * observations, and changes of the feed.
 */
export const retained = [
  'answers',
  'deliveries',
  'quarantine',
  'staging',
  'rows',
  'observations',
  'changes',
] as const;
export type Retained = (typeof retained)[number];

/**
 * The service keeps its results for 30 days. Until then a quarantined delivery may be the only copy of a
 * result, and a late result may need the rows of its call.
 */
const shortestSeconds = 30 * 86_400;
const keptForResults: Partial<Record<Retained, string>> = {
  quarantine: 'quarantined deliveries',
  rows: 'rows',
};

/** Retention period of each kind in seconds; undefined: keep forever. */
export type Retention = { readonly [Kind in Retained]?: number };

/**
 * Reads `RETENTION`, such as `answers=90d,deliveries=90d,quarantine=365d,staging=30d`. Empty: keep everything
 * forever.
 *
 * @throws Problem `setting.invalid`
 */
export function parseRetention(setting: string): Retention {
  const retention: { [Kind in Retained]?: number } = {};
  const written: { [Kind in Retained]?: string } = {};
  for (const part of setting.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', ...values] = part.split('=').map((side) => side.trim());
    const value = values.join('=');
    const kind = retained.find((known) => known === name);
    if (kind === undefined)
      throw invalid(
        `there is no kind of data "${name}"`,
        `write kinds (${retained.join(', ')}) with a duration each, such as answers=90d,staging=30d`,
      );
    if (retention[kind] !== undefined)
      throw invalid(`"${kind}" has two durations`, `write one duration for ${kind}`);
    const seconds = parseDuration(value, 'RETENTION', kind);
    const data = keptForResults[kind];
    if (data !== undefined && seconds < shortestSeconds)
      throw invalid(
        `"${kind}=${value}" keeps ${data} for less than 30 days`,
        `write ${kind}=30d or more: the service can deliver results for 30 days`,
      );
    retention[kind] = seconds;
    written[kind] = value;
  }
  const { rows, staging } = retention;
  if (rows !== undefined && staging !== undefined && rows < staging) {
    throw invalid(
      `"rows=${written.rows}" removes the personal data that "staging=${written.staging}" keeps longer`,
      `write staging=${written.rows} or less, or rows=${written.staging} or more`,
    );
  }
  return retention;
}

function invalid(what: string, next: string): Problem {
  return new UsageProblem('setting.invalid', what, { where: 'RETENTION', next });
}
