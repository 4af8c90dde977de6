import type { BatchTally } from '../src/contract.ts';
import { formatCredits, parseCredits } from '../src/domain/money/decimal.ts';

export const nothing: BatchTally = { calls: 0, enriched: 0, notFound: 0, other: 0, creditsSettled: '0' };

/** Credits are added as exact decimals, never as floats. */
export function add(one: BatchTally, other: BatchTally): BatchTally {
  return {
    calls: one.calls + other.calls,
    enriched: one.enriched + other.enriched,
    notFound: one.notFound + other.notFound,
    other: one.other + other.other,
    creditsSettled: formatCredits(
      (parseCredits(one.creditsSettled) ?? 0n) + (parseCredits(other.creditsSettled) ?? 0n),
    ),
  };
}
