import { parseDuration } from '../text/duration.ts';
import { Problem, exitCodes } from '../problem.ts';

/**
 * What is only kept for a time: bodies of answers, bodies of deliveries that took effect and of those that were set aside
 * without one, the rows of exports as they were staged, observations that newer ones have replaced, and changes of the
 * feed.
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

/** So long the service can be asked again what it delivered: until then a delivery without effect is its only trace. */
const shortestQuarantineSeconds = 30 * 86_400;

/** For how many seconds each is kept; what is not named is kept for ever. */
export type Retention = { readonly [Kind in Retained]?: number };

/**
 * Reads `RETENTION`, such as `answers=90d,deliveries=90d,quarantine=365d,staging=30d`. Empty: everything is kept.
 *
 * @throws Problem `setting.invalid`
 */
export function parseRetention(setting: string): Retention {
  const retention: { [Kind in Retained]?: number } = {};
  for (const part of setting.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', value = ''] = part.split('=').map((word) => word.trim());
    const kind = retained.find((known) => known === name);
    if (kind === undefined) {
      throw new Problem('setting.invalid', `RETENTION knows nothing named "${name}"`, {
        where: 'RETENTION',
        next: `write for example answers=90d,deliveries=90d,quarantine=365d,staging=30d`,
        exitCode: exitCodes.usage,
      });
    }
    const seconds = parseDuration(value, 'RETENTION');
    if (kind === 'quarantine' && seconds < shortestQuarantineSeconds) {
      throw new Problem('setting.invalid', `RETENTION keeps deliveries without effect for ${value} only`, {
        where: 'RETENTION',
        next: 'write quarantine=30d or more, better a year: a later release may understand them',
        exitCode: exitCodes.usage,
      });
    }
    retention[kind] = seconds;
  }
  return retention;
}
