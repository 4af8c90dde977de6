/** Whether a name is a time zone of the IANA database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The local time of a time zone, `2026-11-21 02:00`. */
export function clockIn(timeZone: string, time: Date): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(time);
  const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}`;
}

/** The local date of a time zone, `2026-11-21`. */
export function dateIn(timeZone: string, time: Date): string {
  return clockIn(timeZone, time).slice(0, 10);
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * The first instant of a day in a time zone: midnight, or the end of a gap if a clock change skips midnight.
 *
 * @param date such as `2026-11-21`; for a day that the zone skips, the first instant after it
 */
export function startOfDay(timeZone: string, date: string): Date {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // Zones differ from UTC by at most 14 hours.
  return firstMinute(midnight - 15 * hour, midnight + 15 * hour, (time) => dateIn(timeZone, time) >= date);
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
  const end = start.getTime() + days * day;
  for (let from = Math.floor(start.getTime() / minute) * minute; from < end; from += day) {
    const before = offsetAt(timeZone, new Date(from));
    const after = offsetAt(timeZone, new Date(from + day));
    if (after <= before) continue;
    const change = firstMinute(from, from + day, (time) => offsetAt(timeZone, time) === after).getTime();
    gaps.push({ from: new Date(change + before), until: new Date(change + after) });
  }
  return gaps;
}

/** Offset of a time zone from UTC in milliseconds, at a full minute. */
function offsetAt(timeZone: string, time: Date): number {
  return Date.parse(`${clockIn(timeZone, time).replace(' ', 'T')}:00Z`) - time.getTime();
}

/** Binary search for the first full minute after `from`, up to `to`, from which a condition holds. */
function firstMinute(from: number, to: number, holds: (time: Date) => boolean): Date {
  let [before, after] = [from, to];
  while (after - before > minute) {
    const middle = before + Math.floor((after - before) / minute / 2) * minute;
    if (holds(new Date(middle))) after = middle;
    else before = middle;
  }
  return new Date(after);
}
