/** A time as `2026-11-21 08:42`, in UTC. @param time also as ISO 8601 */
export function minuteOf(time: Date | string): string {
  return (typeof time === 'string' ? time : time.toISOString()).slice(0, 16).replace('T', ' ');
}

/** A time as `2026-11-21 08:42:52 UTC`, from ISO 8601. */
export function secondOf(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}
