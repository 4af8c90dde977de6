import type { PauseReason } from '../../contract/pause-reasons.ts';
import { describeRate, hasFallenBelow, matchRate } from '../../domain/runs/match-rate.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import type { Warehouse } from '../../db/database.ts';
import { restartMatchRate, readLatestMatches } from './pilot.ts';

/** About 500 people: the confidence interval then has about seven percentage points to either side. */
const callsWatched = 50;

/**
 * Checks after a call whether the match rate of the latest calls is significantly below the minimum.
 *
 * @param minimum share from 0 to 1; null: no check
 * @returns why the run should pause; undefined: it continues
 */
export async function watchMatchRate(
  warehouse: Warehouse,
  runId: string,
  minimum: number | null,
): Promise<PauseReason | undefined> {
  if (minimum === null) return undefined;
  const latest = await readLatestMatches(warehouse, runId, callsWatched);
  if (!hasFallenBelow(minimum, latest)) return undefined;
  await restartMatchRate(warehouse, runId);
  const rate = matchRate(latest);
  return {
    type: 'match-rate.below',
    reason:
      `the match rate has fallen below ${formatPercent(minimum)}: ${latest.found} of the last ` +
      `${latest.answered} people were found, ${rate ? describeRate(rate) : ''}`,
    next: 'check the rows that were asked for last',
  };
}
