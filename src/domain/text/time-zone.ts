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

/**
 * When a day begins in a time zone. Where clocks change at midnight itself, an hour before or after.
 *
 * @param date as `2026-11-21`
 */
export function startOfDay(timeZone: string, date: string): Date {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const shown = Date.parse(`${clockIn(timeZone, new Date(midnight)).replace(' ', 'T')}:00Z`);
  const guess = midnight - (shown - midnight);
  // The clocks may have changed between that midnight and the one of UTC, which the offset was taken at.
  const off = Date.parse(`${clockIn(timeZone, new Date(guess)).replace(' ', 'T')}:00Z`) - midnight;
  return new Date(guess - off);
}
