import { formatPercent } from '../text/format.ts';

export interface Matches {
  readonly found: number;
  /** People with a known answer. */
  readonly answered: number;
}

/** Shares from 0 to 1. */
export interface MatchRate {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** A 95 % confidence interval. */
const usualDeviations = 1.96;
/** Wider, because the gate checks after every call and would otherwise fail by chance. */
const guardDeviations = 3;
/** Fewer people decide nothing: some exports begin with their worst rows. */
const fewestForGuard = 100;

/**
 * The match rate with its Wilson score interval, which also holds for few people and for rates near 0 and 1.
 *
 * @returns undefined before the first answer
 */
export function matchRate(matches: Matches, deviations = usualDeviations): MatchRate | undefined {
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

/** Whether the latest calls show a rate below a minimum, beyond chance. */
export function hasFallenBelow(minimum: number, latest: Matches): boolean {
  const rate = matchRate(latest, guardDeviations);
  return rate !== undefined && latest.answered >= fewestForGuard && rate.high < minimum;
}

/** `41.3 % (38.2 % to 44.5 %)` */
export function describeRate({ rate, low, high }: MatchRate): string {
  return `${formatPercent(rate)} (${formatPercent(low)} to ${formatPercent(high)})`;
}
