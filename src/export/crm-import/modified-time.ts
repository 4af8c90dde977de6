/** Zones are at most twelve hours behind UTC. */
const longestZoneMilliseconds = 12 * 3_600_000;

/** Date, and perhaps time and zone. */
const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Reads the time of a CRM's cell: an ISO time, or one whose date has points (22.11.2026). Without a zone or an hour,
 * the latest moment that it can stand for: a value that may be older than the CRM's is not written. Null for ambiguous
 * dates such as 03/04/2026.
 */
export function modifiedTime(cell: string): Date | null {
  const text = cell.trim().replace(/^(\d{2})\.(\d{2})\.(\d{4})(?!\d)/, '$3-$2-$1');
  const iso = isoTime.exec(text);
  if (!iso) return null;
  const [, day, hour = '23:59:59.999', zone] = iso;
  const moment = new Date(`${day}T${hour}${zone ?? 'Z'}`);
  if (Number.isNaN(moment.getTime())) return null;
  return zone === undefined ? new Date(moment.getTime() + longestZoneMilliseconds) : moment;
}
