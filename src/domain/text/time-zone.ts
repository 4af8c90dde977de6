/** Whether a name is one of the IANA time zone database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** `2026-11-21 02:00`: what clocks in a time zone show at a time. */
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

/** `2026-11-21`: which day it is in a time zone at a time. */
export function dateIn(timeZone: string, time: Date): string {
  return clockIn(timeZone, time).slice(0, 10);
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * The first instant of a day in a time zone: midnight, or the end of a gap where the clocks skip midnight.
 *
 * @param date as `2026-11-21`; where the zone skips the whole day, the first instant after it
 */
export function startOfDay(timeZone: string, date: string): Date {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // No zone is further from UTC than 14 hours.
  return firstMinute(midnight - 15 * hour, midnight + 15 * hour, (time) => dateIn(timeZone, time) >= date);
}

/** Local times that a change of the clocks skips: from `from` to before `until`, both as if the local clock showed UTC. */
export interface ClockGap {
  readonly from: Date;
  readonly until: Date;
}

/** The gaps of a time zone's clocks within some days from a time, soonest first. */
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

/** Milliseconds that clocks in a time zone are ahead of UTC at a full minute. */
function offsetAt(timeZone: string, time: Date): number {
  return Date.parse(`${clockIn(timeZone, time).replace(' ', 'T')}:00Z`) - time.getTime();
}

/** The first full minute after `from`, up to `to`, from which on a condition holds. */
function firstMinute(from: number, to: number, holds: (time: Date) => boolean): Date {
  let [before, after] = [from, to];
  while (after - before > minute) {
    const middle = before + Math.floor((after - before) / minute / 2) * minute;
    if (holds(new Date(middle))) after = middle;
    else before = middle;
  }
  return new Date(after);
}
