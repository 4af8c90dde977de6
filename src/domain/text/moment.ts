/** Whether a text is a calendar date such as `2026-11-21`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // Date.parse would read 2026-02-30 as 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/**
 * Reads a time with its zone, such as `2026-11-21T02:00:00Z`. Without a zone its meaning would depend on the
 * machine.
 *
 * @returns undefined if the text is no such time
 */
export function parseMoment(text: string): Date | undefined {
  const [, date = '', zone] = /^(\d{4}-\d{2}-\d{2})[T ].+(z|[+-]\d{2}:?\d{2})$/i.exec(text) ?? [];
  const time = zone !== undefined && isDate(date) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time);
}
