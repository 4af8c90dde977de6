/** Returns the noun for a number: `call` for 1, `calls` for any other number. */
export function nounFor(value: number | string, one: string, many = `${one}s`): string {
  return String(value) === '1' ? one : many;
}

/** Formats a number or decimal with its noun: `1 call`, `1,200 calls`, `1 person`, `0.5 credits`. */
export function formatCount(value: number | string, one: string, many?: string): string {
  return `${formatNumber(value)} ${nounFor(value, one, many)}`;
}

/** Formats a number of people: `1 person`, `2 people`. */
export function formatPeopleCount(value: number): string {
  return formatCount(value, 'person', 'people');
}

/** Splits a list in text form. Its entries are separated by a comma and a space or line break. */
export function splitList(text: string): string[] {
  return text.trim().split(/,\s+/);
}

/** The length of the longest text. `Math.max(...)` takes about 100,000 arguments, and a table can have more rows. */
export function lengthOfLongest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, text.length), 0);
}

/** Formats a count or a decimal for display, with grouped digits: `12,345`, `1,150.25`. */
export function formatNumber(value: number | string): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Formats a share for display: `92.7 %`; `–` if the whole is 0. @param part from 0 to `whole` */
export function formatPercent(part: number, whole = 1): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`;
}

/** Formats a time as `2026-11-21 08:42`, in UTC. @param time a date, or ISO 8601 */
export function formatMinute(time: Date | string): string {
  return (typeof time === 'string' ? time : time.toISOString()).slice(0, 16).replace('T', ' ');
}

/** Formats a time as `2026-11-21 08:42:52 UTC`. @param time ISO 8601 */
export function formatSecond(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}

/** True if a text is a calendar date such as `2026-11-21`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // `Date.parse` would read 2026-02-30 as 2 March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Quotes a text so that a shell reads it as one word. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+,-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Pattern of characters that control a terminal or change the order of text: control characters of ASCII and Latin-1
 * except tab and line feed, direction marks, line and paragraph separators, and noncharacters.
 */
const controlling =
  // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufff9-\ufffb]/g;

/** Escapes control characters except line feeds and tabs; a JSON text keeps its meaning: ESC becomes `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(controlling, escaped);
}

/** Escapes control characters, line feeds and tabs, for output in a single line. */
export function escapeControlsInLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
