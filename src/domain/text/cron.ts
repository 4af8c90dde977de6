const shorthands = ['@hourly', '@daily', '@weekly', '@monthly', '@yearly'];

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names of the values, beginning with that of `from`. */
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
 * Looks whether a line is one that cron and Temporal understand alike: five fields, or a shorthand such as `@daily`.
 *
 * A day of the month beside a day of the week is refused: cron takes either of them, Temporal only a day that is both.
 *
 * @returns what is wrong with it, to be read after the line itself; undefined where nothing is
 */
export function cronMistake(line: string): string | undefined {
  if (shorthands.includes(line)) return undefined;
  const parts = line.split(/\s+/);
  if (parts.length !== fields.length)
    return `has ${parts.length} fields: minute, hour, day of the month, month and day of the week are five`;
  for (const [index, field] of fields.entries()) {
    const wrong = parts[index]!.split(',').find((term) => !isTerm(term, field));
    if (wrong !== undefined)
      return `has "${wrong}" as the ${field.name}, which goes from ${field.from} to ${field.to}`;
  }
  if (parts[2] !== '*' && parts[4] !== '*')
    return 'has a day of the month and a day of the week: leave one of them *';
  return undefined;
}

/** `*`, `5`, `1-5`, `mon-fri`, each of them also with a step such as `/15` behind it. */
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

function valueOf(word: string, { from, to, names }: Field): number | undefined {
  const named = names?.indexOf(word.toLowerCase()) ?? -1;
  if (named >= 0) return from + named;
  const value = /^\d{1,2}$/.test(word) ? Number(word) : Number.NaN;
  return value >= from && value <= to ? value : undefined;
}
