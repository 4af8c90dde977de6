import { Temporal } from 'temporal-polyfill';

/** Returns a time zone as the IANA database spells it, which Temporal's server requires; undefined: none. */
export function canonicalTimeZone(name: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === '' ? undefined : Temporal.Now.zonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}

/** Formats a time as local time of a time zone: `2026-11-21 02:00`. */
export function formatLocalTime(timeZone: string, time: Date): string {
  return localTime(timeZone, time).toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
}

/** Formats a time as local date of a time zone: `2026-11-21`. */
export function formatLocalDate(timeZone: string, time: Date): string {
  return localTime(timeZone, time).toPlainDate().toString();
}

function localTime(timeZone: string, time: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(timeZone);
}
