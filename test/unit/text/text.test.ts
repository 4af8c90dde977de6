import { describe, expect, it } from 'vitest';
import { formatElapsed, parseDuration } from '../../../src/domain/text/duration.ts';
import {
  formatCount,
  formatPeopleCount,
  formatNumber,
  formatPercent,
  isDate,
  lengthOfLongest,
  quoteForShell,
} from '../../../src/domain/text/format.ts';
import { formatLocalTime, formatLocalDate, canonicalTimeZone } from '../../../src/domain/text/time-zone.ts';
import { hasPersonalData, withoutPersonalData } from '../../../src/domain/text/without-personal-data.ts';
import cases from '../../data/text/text.json' with { type: 'json' };

/** The tested functions; text.json has arguments and results of each. Null there means undefined. */
const functions: Readonly<Record<keyof typeof cases, (...given: never[]) => unknown>> = {
  formatCount,
  formatPeopleCount,
  formatNumber,
  formatPercent,
  quoteForShell,
  isDate,
  formatElapsed,
  parseDuration,
  canonicalTimeZone,
  withoutPersonalData,
};

describe.each(Object.entries(functions))('%s()', (name, read) => {
  it.each(cases[name as keyof typeof cases] as [never[], unknown][])(
    `${name}() of %j is %j`,
    (given, expected) => expect(read(...given) ?? null).toEqual(expected),
  );
});

it('lengthOfLongest() accepts more texts than a function accepts arguments', () => {
  expect(lengthOfLongest([...Array<string>(300_000).fill('ab'), 'abc'])).toBe(3);
});

it.each(['36501d', '999999999w'])('parseDuration() refuses %s, and names the longest duration', (text) =>
  expect(() => parseDuration(text, 'FRESHNESS')).toThrow(`"${text}" is longer than a hundred years`),
);

it('formatLocalDate() and formatLocalTime() show the day and the time of a time zone', () => {
  expect(formatLocalDate('Australia/Sydney', new Date('2026-11-20T15:00:00Z'))).toBe('2026-11-21');
  expect(formatLocalTime('Europe/Berlin', new Date('2026-11-20T23:00:00Z'))).toBe('2026-11-21 00:00');
});

it('hasPersonalData() finds an e-mail, a phone number and a profile URL', () => {
  for (const text of ['ada@orbit.example', 'call +49 151 23456789', 'linkedin.com/in/ada'])
    expect(hasPersonalData(text)).toBe(true);
});

it.each(['a', 'a@'])(
  'withoutPersonalData() reads a long word of "%s" without delay',
  { timeout: 1_000 },
  (part) => expect(withoutPersonalData(part.repeat(20_000))).toBe(part.repeat(20_000)),
);
