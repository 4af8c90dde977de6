/** How many of the people who were asked for were found and are who they should be. */
export interface Matches {
  readonly found: number;
  /** People whose answer is known. */
  readonly answered: number;
}

/** Shares from 0 to 1. */
export interface MatchRate {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** Nineteen intervals in twenty hold the true rate. */
const usualDeviations = 1.96;
/** A gate that checks after every call has many chances to be wrong. */
const guardDeviations = 3;
/** Fewer say nothing yet: some CRM exports begin with their worst rows. */
const fewestForGuard = 100;

/**
 * The rate with its Wilson score interval, which holds for few people and for rates near 0 and 1 as well.
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

/** Whether the latest calls show that the rate is below a minimum, and that it is not chance. */
export function hasFallenBelow(minimum: number, latest: Matches): boolean {
  const rate = matchRate(latest, guardDeviations);
  return rate !== undefined && latest.answered >= fewestForGuard && rate.high < minimum;
}

/** `41.3 % (38.2 % to 44.5 %)` */
export function describeRate({ rate, low, high }: MatchRate): string {
  return `${percent(rate)} (${percent(low)} to ${percent(high)})`;
}

/** `41.3 %` */
export function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}
