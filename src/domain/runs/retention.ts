import { parseDuration } from '../text/duration.ts';
import { Problem, exitCodes } from '../problem.ts';

/**
 * Kinds of data with a retention period: bodies of answers, bodies of applied deliveries, bodies of orphaned and
 * quarantined deliveries (`quarantine`), staged rows of exports, replaced observations, and changes of the feed.
 */
export const retained = [
  'answers',
  'deliveries',
  'quarantine',
  'staging',
  'observations',
  'changes',
] as const;
export type Retained = (typeof retained)[number];

/**
 * The service keeps its results for 30 days; until then an orphaned or quarantined delivery may be the only copy of a
 * result.
 */
const shortestQuarantineSeconds = 30 * 86_400;

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
  for (const part of setting.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', value = ''] = part.split('=').map((side) => side.trim());
    const kind = retained.find((known) => known === name);
    if (kind === undefined) {
      throw new Problem('setting.invalid', `RETENTION has the unknown kind "${name}"`, {
        where: 'RETENTION',
        next: `write kinds (${retained.join(', ')}) with a duration each, such as answers=90d,staging=30d`,
        exitCode: exitCodes.usage,
      });
    }
    const seconds = parseDuration(value, 'RETENTION');
    if (kind === 'quarantine' && seconds < shortestQuarantineSeconds) {
      throw new Problem('setting.invalid', `RETENTION keeps quarantined deliveries for only ${value}`, {
        where: 'RETENTION',
        next: 'write quarantine=30d or more; with a year, a later release may still read them',
        exitCode: exitCodes.usage,
      });
    }
    retention[kind] = seconds;
  }
  return retention;
}
