import { formatDuration, parseDuration, parseDurations } from '../text/duration.ts';

/**
 * Seconds for which a lookup counts as fresh, by the kind of its result. `earlierLookups` in drop-rows.ts applies them.
 */
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
 * Reads `FRESHNESS`: one duration for every lookup (`90d`), or one per kind of result
 * (`enriched=90d,email=60d,phone=180d,not_found=30d`). With `0s`, no lookup is fresh.
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

export function formatFreshness(freshness: Freshness): string {
  return Object.entries(kinds)
    .flatMap(([name, field]) => {
      const seconds = freshness[field];
      return seconds === undefined ? [] : [`${name}=${formatDuration(seconds)}`];
    })
    .join(',');
}

/**
 * Seconds for which a found group of fields counts as fresh. The work e-mail is part of the profile, so a profile is
 * never fresh longer than its e-mail.
 *
 * @param fieldGroup as `requestedFieldGroups` names it
 */
export function freshSecondsIfFound(freshness: Freshness, fieldGroup: string): number {
  const { enrichedSeconds, emailSeconds = enrichedSeconds, phoneSeconds = enrichedSeconds } = freshness;
  if (fieldGroup === 'profile') return Math.min(enrichedSeconds, emailSeconds);
  return fieldGroup.endsWith('phone') ? phoneSeconds : emailSeconds;
}
