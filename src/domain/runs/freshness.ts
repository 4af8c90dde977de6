import { formatDuration, parseDuration, parseDurations } from '../text/duration.ts';

/** Seconds for which a lookup is fresh (`earlierLookups`), by the kind of its result. */
export interface Freshness {
  readonly enrichedSeconds: number;
  /** Seconds for people who were not found. The service may learn about a person any day. */
  readonly notFoundSeconds: number;
  /** Seconds for found e-mails; undefined: `enrichedSeconds`. */
  readonly emailSeconds?: number;
  /** Seconds for found phones; undefined: `enrichedSeconds`. */
  readonly phoneSeconds?: number;
}

const kinds = {
  enriched: 'enrichedSeconds',
  not_found: 'notFoundSeconds',
  email: 'emailSeconds',
  phone: 'phoneSeconds',
} as const satisfies Readonly<Record<string, keyof Freshness>>;

type Kind = keyof typeof kinds;

const example = 'enriched=90d,email=60d,phone=180d,not_found=30d';

/**
 * Reads one duration (`90d`) or several (`enriched=90d,email=60d,phone=180d,not_found=30d`); `0s`: nothing is fresh.
 *
 * @throws Problem `setting.invalid`
 */
export function parseFreshness(text: string, setting = 'FRESHNESS'): Freshness {
  if (!text.includes('=')) {
    const seconds = parseDuration(text, setting);
    return { enrichedSeconds: seconds, notFoundSeconds: seconds };
  }
  const next = `write one duration (90d), or kinds with a duration each, such as ${example}`;
  const given = parseDurations(text, setting, Object.keys(kinds) as Kind[], next);
  const seconds = [...given].map(([kind, each]) => [kinds[kind], each.seconds]);
  const defaults = { enrichedSeconds: 90 * 86_400, notFoundSeconds: 30 * 86_400 };
  return { ...defaults, ...(Object.fromEntries(seconds) as Partial<Freshness>) };
}

/** Formats freshness as the setting: `enriched=90d,not_found=30d`. */
export function formatFreshness(freshness: Freshness): string {
  return Object.entries(kinds)
    .flatMap(([name, field]) => {
      const seconds = freshness[field];
      return seconds === undefined ? [] : [`${name}=${formatDuration(seconds)}`];
    })
    .join(',');
}

/** Seconds for which a found group is fresh. A profile has the work e-mail, and is never fresh longer than it. */
export function freshSecondsIfFound(freshness: Freshness, fieldGroup: string): number {
  const { enrichedSeconds, emailSeconds = enrichedSeconds, phoneSeconds = enrichedSeconds } = freshness;
  if (fieldGroup === 'profile') return Math.min(enrichedSeconds, emailSeconds);
  return fieldGroup.endsWith('phone') ? phoneSeconds : emailSeconds;
}
