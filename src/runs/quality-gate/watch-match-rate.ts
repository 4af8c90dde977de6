import type { PauseReason } from '../../contract.ts';
import { describeRate, hasFallenBelow, matchRate } from '../../domain/runs/match-rate.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import type { Warehouse } from '../../db/database.ts';
import { forgetMatches, readLatestMatches } from './pilot.ts';

/** About 500 people: the interval is then some seven percent to either side. */
const callsWatched = 50;

/**
 * Looks, after a call, whether the latest ones fell below the match rate that the run's owner wants, by more than
 * chance.
 *
 * @param minimum share from 0 to 1; null: nothing is watched
 * @returns why the run should stop
 */
export async function watchMatchRate(
  warehouse: Warehouse,
  runId: string,
  minimum: number | null,
): Promise<PauseReason | undefined> {
  if (minimum === null) return undefined;
  const latest = await readLatestMatches(warehouse, runId, callsWatched);
  if (!hasFallenBelow(minimum, latest)) return undefined;
  await forgetMatches(warehouse, runId);
  const rate = matchRate(latest);
  return {
    type: 'match-rate.below',
    reason:
      `the match rate has fallen below ${formatPercent(minimum)}: ${latest.found} of the last ` +
      `${latest.answered} people were found, ${rate ? describeRate(rate) : ''}`,
    next: 'look at the rows that were asked for last',
  };
}
