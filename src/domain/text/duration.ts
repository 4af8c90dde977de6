import { UsageProblem } from '../problem.ts';

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** The longest duration in days. PostgreSQL could not store a paid answer with a much later deadline. */
const longestDays = 36_500;

/** Reads a duration: `15s`, `30m`, `24h`, `90d`, `2w`, in seconds. @throws Problem `setting.invalid` */
export function parseDuration(text: string, setting: string, part?: string): number {
  const match = /^\s*(\d{1,9})\s*([smhdw])\s*$/i.exec(text);
  const seconds = match
    ? Number(match[1]) * (unitSeconds[match[2]!.toLowerCase()] ?? Number.NaN)
    : Number.NaN;
  if (seconds <= longestDays * unitSeconds['d']!) return seconds;
  const what = part === undefined ? `"${text}"` : `"${text}" of "${part}"`;
  const [mistake, next] = Number.isNaN(seconds)
    ? ['is not a duration', 'write a whole number and a unit: 15s, 30m, 24h, 90d or 2w']
    : ['is longer than a hundred years', `write at most ${longestDays}d`];
  throw new UsageProblem('setting.invalid', `${what} ${mistake}`, { where: setting, next });
}

/** Reads one duration per kind, such as `answers=90d,rows=30d`. @throws Problem `setting.invalid` */
export function parseDurations<Kind extends string>(
  text: string,
  setting: string,
  kinds: readonly Kind[],
  next: string,
): Map<Kind, { readonly seconds: number; readonly written: string }> {
  const found = new Map<Kind, { readonly seconds: number; readonly written: string }>();
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', ...values] = part.split('=').map((side) => side.trim());
    const kind = kinds.find((each) => each === name);
    const what =
      kind === undefined
        ? `there is no kind "${name}"`
        : found.has(kind)
          ? `"${kind}" has two durations`
          : undefined;
    if (kind === undefined || what !== undefined)
      throw new UsageProblem('setting.invalid', what!, { where: setting, next });
    const written = values.join('=');
    found.set(kind, { seconds: parseDuration(written, setting, kind), written });
  }
  return found;
}

/** The shortest exact form of a number of seconds, as settings use it: `90d`, `36h`, `15s`. */
export function formatDuration(seconds: number): string {
  for (const unit of ['w', 'd', 'h', 'm'] as const) {
    const size = unitSeconds[unit]!;
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

/** Formats a duration for display, in at most two units: `1d 1h`, `1h 5m`, `42s`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3_600)}h ${Math.floor((whole % 3_600) / 60)}m`;
  return `${Math.floor(whole / 86_400)}d ${Math.floor((whole % 86_400) / 3_600)}h`;
}
