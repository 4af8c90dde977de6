import { counted, minuteOf } from './format.ts';
import { clockGaps } from './time-zone.ts';

/** The five fields of each shorthand. */
const shorthands: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names of the values, from `from` on. */
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  {
    name: 'month',
    from: 1,
    to: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of the week', from: 0, to: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

/**
 * Checks that cron and Temporal read a line in the same way: five fields, or a shorthand such as `@daily`.
 *
 * A line with both a day of the month and a day of the week is refused: cron fires on either, Temporal only
 * on a day that is both.
 *
 * @returns the mistake, as a sentence without the line as its subject; undefined for a valid line
 */
export function cronMistake(line: string): string | undefined {
  if (Object.hasOwn(shorthands, line)) return undefined;
  const parts = line.split(/\s+/);
  if (parts.length !== fields.length)
    return (
      `has ${counted(parts.length, 'field')} instead of five: ` +
      'minute, hour, day of the month, month, day of the week'
    );
  for (const [index, field] of fields.entries()) {
    const wrong = parts[index]!.split(',').find((term) => !isTerm(term, field));
    if (wrong !== undefined)
      return `has "${wrong}" as the ${field.name}, which must be from ${field.from} to ${field.to}`;
  }
  if (parts[2] !== '*' && parts[4] !== '*')
    return 'has a day of the month and a day of the week: write * for one of the two';
  if (!hasDate(parts[2]!, parts[3]!)) return 'has a day that none of its months has: it would never come';
  return undefined;
}

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function hasDate(days: string, months: string): boolean {
  const isIn = (part: string, index: number, value: number): boolean =>
    part.split(',').some((term) => includes(term, fields[index]!, value));
  return daysOfMonths.some(
    (last, month) =>
      isIn(months, 3, month + 1) &&
      Array.from({ length: last }, (_, day) => day + 1).some((day) => isIn(days, 2, day)),
  );
}

/** `*`, `5`, `1-5` or `mon-fri`, with an optional step such as `/15`. */
function isTerm(term: string, field: Field): boolean {
  const match = /^(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d{1,2}))?$/i.exec(term);
  if (!match) return false;
  const [, first = '', last, step] = match;
  if (step !== undefined && Number(step) < 1) return false;
  if (first === '*') return last === undefined;
  const from = valueOf(first, field);
  const to = last === undefined ? from : valueOf(last, field);
  return from !== undefined && to !== undefined && from <= to;
}

function valueOf(text: string, { from, to, names }: Field): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return from + named;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : undefined;
}

/** Search range for clock changes, which happen at least once a year in zones that have them. */
const daysAhead = 400;
const minute = 60_000;

/**
 * Finds times of a cron line that a clock change skips. Temporal then does not fire and reports nothing. A
 * line that fires again soon after the gap, such as each hour, is not affected.
 *
 * @param line a valid line
 * @param now start of the searched year
 * @returns one sentence for each skipped time, without the schedule as its subject
 */
export function skippedTimes(line: string, timeZone: string, now: Date): string[] {
  return clockGaps(timeZone, now, daysAhead).flatMap(({ from, until }) => {
    const length = until.getTime() - from.getTime();
    const skipped = firstMatch(line, from, until);
    if (skipped === undefined || firstMatch(line, until, new Date(until.getTime() + length))) return [];
    const [date, time] = minuteOf(skipped).split(' ');
    return [
      `has no time on ${date}: at ${time} clocks in ${timeZone} go from ${minuteOf(from).slice(11)} to ` +
        `${minuteOf(until).slice(11)}; choose another time, or a time zone without clock changes`,
    ];
  });
}

/** The first time of a line within a range of local time. */
function firstMatch(line: string, from: Date, until: Date): Date | undefined {
  for (let time = from.getTime(); time < until.getTime(); time += minute) {
    if (matches(line, new Date(time))) return new Date(time);
  }
  return undefined;
}

/** @param local a local time, expressed as UTC */
function matches(line: string, local: Date): boolean {
  const values = [
    local.getUTCMinutes(),
    local.getUTCHours(),
    local.getUTCDate(),
    local.getUTCMonth() + 1,
    local.getUTCDay(),
  ];
  const parts = (shorthands[line] ?? line).split(/\s+/);
  return parts.every((part, index) =>
    part.split(',').some((term) => includes(term, fields[index]!, values[index]!)),
  );
}

function includes(term: string, field: Field, value: number): boolean {
  const [range = '', step = '1'] = term.split('/');
  const [first = '', last] = range.split('-');
  const from = first === '*' ? field.from : (valueOf(first, field) ?? Number.NaN);
  // cron reads `5/15` as every 15 from 5.
  const open = first === '*' || (last === undefined && term.includes('/'));
  const to = open ? field.to : last === undefined ? from : (valueOf(last, field) ?? Number.NaN);
  // Sunday is 0 and 7.
  const candidates = field.to === 7 && value === 0 ? [0, 7] : [value];
  return candidates.some((each) => each >= from && each <= to && (each - from) % Number(step) === 0);
}
