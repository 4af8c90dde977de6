import { parseDurations } from '../text/duration.ts';
import { UsageProblem, type Problem } from '../problem.ts';

/**
 * Kinds of data with a retention period: bodies of answers, bodies of applied and of quarantined deliveries, personal
 * data in rows of exports (`staging`), the rows themselves, replaced observations, and changes of the feed.
 */
export const retainedKinds = [
  'answers',
  'deliveries',
  'quarantine',
  'staging',
  'rows',
  'observations',
  'changes',
] as const;
export type RetainedKind = (typeof retainedKinds)[number];

/**
 * Shortest retention period. The service keeps results for 30 days: until then a quarantined delivery may be the only
 * copy of a result, and a late result may need the rows of its call.
 */
const shortestSeconds = 30 * 86_400;
const keptForResults: Partial<Record<RetainedKind, string>> = {
  quarantine: 'quarantined deliveries',
  rows: 'rows',
};

/** Retention period of each kind in seconds; undefined: keep forever. */
export type Retention = { readonly [Kind in RetainedKind]?: number };

/** Reads `RETENTION`, such as `answers=90d,staging=30d`; empty: kept forever. @throws Problem `setting.invalid` */
export function parseRetention(setting: string): Retention {
  const example = `write kinds (${retainedKinds.join(', ')}) with a duration each, such as answers=90d,staging=30d`;
  const given = parseDurations(setting, 'RETENTION', retainedKinds, example);
  for (const [kind, data] of Object.entries(keptForResults)) {
    const { seconds, written } = given.get(kind as RetainedKind) ?? {};
    if (seconds !== undefined && seconds < shortestSeconds)
      throw invalid(
        `"${kind}=${written}" keeps ${data} for less than 30 days`,
        `write ${kind}=30d or more: the service can deliver results for 30 days`,
      );
  }
  const [rows, staging] = [given.get('rows'), given.get('staging')];
  if (rows && staging && rows.seconds < staging.seconds)
    throw invalid(
      `"rows=${rows.written}" removes the personal data that "staging=${staging.written}" keeps longer`,
      `write staging=${rows.written} or less, or rows=${staging.written} or more`,
    );
  return Object.fromEntries([...given].map(([kind, { seconds }]) => [kind, seconds]));
}

function invalid(what: string, next: string): Problem {
  return new UsageProblem('setting.invalid', what, { where: 'RETENTION', next });
}
