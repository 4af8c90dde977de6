import { Temporal } from 'temporal-polyfill';

/**
 * A time zone as the IANA database spells it, such as `Europe/Berlin` for `europe/berlin`: Temporal's server finds it
 * only so.
 *
 * @returns undefined if there is no such time zone
 */
export function timeZoneNamed(name: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === '' ? undefined : Temporal.Now.zonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}

/** The local time of a time zone, `2026-11-21 02:00`. */
export function clockIn(timeZone: string, time: Date): string {
  return localTime(timeZone, time).toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
}

/** The local date of a time zone, `2026-11-21`. */
export function dateIn(timeZone: string, time: Date): string {
  return localTime(timeZone, time).toPlainDate().toString();
}

/**
 * The first instant of a day in a time zone: midnight, or the end of a gap if a clock change skips midnight.
 *
 * @param date such as `2026-11-21`; for a day that the zone skips, the first instant after it
 */
export function startOfDay(timeZone: string, date: string): Date {
  return new Date(Temporal.PlainDate.from(date).toZonedDateTime(timeZone).epochMilliseconds);
}

/**
 * Local times that a clock change skips: `from` is included, `until` is not. Both are local times, expressed
 * as UTC.
 */
export interface ClockGap {
  readonly from: Date;
  readonly until: Date;
}

/** The clock gaps of a time zone within a number of days from a time, soonest first. */
export function clockGaps(timeZone: string, start: Date, days: number): ClockGap[] {
  const gaps: ClockGap[] = [];
  const begin = localTime(timeZone, start);
  const end = begin.epochMilliseconds + days * 24 * 60 * 60_000;
  let change = begin.getTimeZoneTransition('next');
  while (change !== null && change.epochMilliseconds < end) {
    const before = change.subtract({ nanoseconds: 1 }).offsetNanoseconds / 1e6;
    const after = change.offsetNanoseconds / 1e6;
    const at = change.epochMilliseconds;
    if (after > before) gaps.push({ from: new Date(at + before), until: new Date(at + after) });
    change = change.getTimeZoneTransition('next');
  }
  return gaps;
}

function localTime(timeZone: string, time: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(timeZone);
}
