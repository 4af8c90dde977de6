import { parseDuration, formatDuration } from '../text/duration.ts';
import { Problem, exitCodes } from '../problem.ts';

/** For how many seconds an answer counts as recent, by what the answer was. */
export interface Freshness {
  readonly enrichedSeconds: number;
  /** Misses have a clock of their own: the service may learn of a person any day. */
  readonly notFoundSeconds: number;
  /** Addresses that were found; absent: as everything that was found. */
  readonly emailSeconds?: number;
  /** Phones that were found; absent: as everything that was found. */
  readonly phoneSeconds?: number;
}

const clocks = {
  enriched: 'enrichedSeconds',
  not_found: 'notFoundSeconds',
  email: 'emailSeconds',
  phone: 'phoneSeconds',
} as const satisfies Readonly<Record<string, keyof Freshness>>;

type Clock = keyof typeof clocks;

const example = 'enriched=90d,email=60d,phone=180d,not_found=30d';

/**
 * Reads `FRESHNESS`: one duration for every answer (`90d`), or clocks
 * (`enriched=90d,email=60d,phone=180d,not_found=30d`). `0s` asks again every time.
 *
 * @throws Problem `setting.invalid`
 */
export function parseFreshness(setting: string): Freshness {
  if (!setting.includes('=')) {
    const seconds = parseDuration(setting, 'FRESHNESS');
    return { enrichedSeconds: seconds, notFoundSeconds: seconds };
  }
  const set: { -readonly [Field in keyof Freshness]: Freshness[Field] } = {
    enrichedSeconds: 90 * 86_400,
    notFoundSeconds: 30 * 86_400,
  };
  for (const part of setting.split(',')) {
    const [name = '', value = ''] = part.split('=').map((text) => text.trim());
    if (!Object.hasOwn(clocks, name)) {
      throw new Problem('setting.invalid', `FRESHNESS knows no clock named "${name}"`, {
        where: 'FRESHNESS',
        next: `write one duration (90d), or clocks such as ${example}`,
        exitCode: exitCodes.usage,
      });
    }
    set[clocks[name as Clock]] = parseDuration(value, 'FRESHNESS');
  }
  return set;
}

/** The setting that `parseFreshness` reads back. */
export function formatFreshness(freshness: Freshness): string {
  return Object.entries(clocks)
    .flatMap(([name, field]) => {
      const seconds = freshness[field];
      return seconds === undefined ? [] : [`${name}=${formatDuration(seconds)}`];
    })
    .join(',');
}

/**
 * For how many seconds a group of fields that was found counts as recent. The work address comes with the profile, so a
 * profile is never older than an address may be.
 *
 * @param fieldGroup as `askedFieldGroups` names it
 */
export function foundSeconds(freshness: Freshness, fieldGroup: string): number {
  const { enrichedSeconds, emailSeconds = enrichedSeconds, phoneSeconds = enrichedSeconds } = freshness;
  if (fieldGroup === 'profile') return Math.min(enrichedSeconds, emailSeconds);
  return fieldGroup.endsWith('phone') ? phoneSeconds : emailSeconds;
}
