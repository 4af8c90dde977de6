import { formatPercent } from '../text/format.ts';

export interface MatchCounts {
  readonly found: number;
  /** Number of people with a known answer. */
  readonly answered: number;
}

/** A match rate with its confidence interval, as shares from 0 to 1. */
export interface MatchRate {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** Standard deviations of a 95 % confidence interval. */
const usualDeviations = 1.96;
/** Deviations of the quality gate. They are wider, because a check after every call would pause runs by chance. */
const guardDeviations = 3;
/** Minimum number of people for the quality gate. Some exports begin with their worst rows. */
const fewestForGuard = 100;

/** Computes the match rate with its Wilson interval, valid for few people too; undefined before the first answer. */
export function matchRate(matches: MatchCounts, deviations = usualDeviations): MatchRate | undefined {
  const { found, answered } = matches;
  if (answered === 0) return undefined;
  const rate = found / answered;
  const square = deviations ** 2;
  const middle = (rate + square / (2 * answered)) / (1 + square / answered);
  const half =
    (deviations / (1 + square / answered)) *
    Math.sqrt((rate * (1 - rate)) / answered + square / (4 * answered ** 2));
  return { rate, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** True if the interval of three standard deviations, for at least 100 people, is below `minimum` (0 to 1). */
export function hasFallenBelow(minimum: number, latest: MatchCounts): boolean {
  const rate = matchRate(latest, guardDeviations);
  return rate !== undefined && latest.answered >= fewestForGuard && rate.high < minimum;
}

/** Formats a match rate: `41.3 % (38.2 % to 44.5 %)`. */
export function describeRate({ rate, low, high }: MatchRate): string {
  return `${formatPercent(rate)} (${formatPercent(low)} to ${formatPercent(high)})`;
}
