import { formatCredits, storedCredits } from '../../domain/money/decimal.ts';
import type { Reconciliation } from '../../ledger/credit-statements.ts';
import { table } from '../terminal/output.ts';

/** A table of the service's statements and the credits in the warehouse, one row a credit cycle. */
export function reconciliationTable(cycles: readonly Reconciliation[]): string {
  return table([
    ['credit cycle', 'from', 'to', 'billed', 'settled', 'held', 'unexplained'],
    ...cycles.map(({ cycle_start, cycle_end, from, to, billed, settled, held, unexplained }) => [
      `${cycle_start ?? '?'} to ${cycle_end ?? '?'}`,
      from.toISOString(),
      to.toISOString(),
      billed,
      settled,
      held,
      unexplained,
    ]),
  ]);
}

/** Compares the service's statement of one credit cycle with the warehouse, as text for a person. */
export function describeReconciliation(cycle: Reconciliation): string {
  const { from, to, billed, settled, stated, held, unknown, unexplained } = cycle;
  const text =
    `The service billed ${billed} credits from ${from.toISOString()} to ${to.toISOString()}. ` +
    `The warehouse has settled ${settled}` +
    (stated === '0'
      ? ''
      : ` (with ${stated} that answers state, and that enrich status counts as reserved or unknown)`) +
    ` and holds ${held}, ` +
    `of which ${unknown} are for calls whose cost is unknown. Unexplained: ${unexplained}.`;
  return `${text} ${conclusionOf(cycle)}`.trimEnd();
}

/**
 * What follows from a statement, above all for the held credits. Another program can have used credits that look like
 * those of held calls, so the billed part of the held credits is known only as a maximum.
 */
export function conclusionOf(cycle: Reconciliation): string {
  const unsettled = storedCredits(cycle.billed) - storedCredits(cycle.settled);
  if (unsettled < 0n)
    return (
      `The service has billed ${formatCredits(-unsettled)} credits less than the warehouse has settled: it bills ` +
      'some calls later, or has returned credits. Compare again after the next run.'
    );
  if (storedCredits(cycle.held) === 0n) return '';
  if (storedCredits(cycle.unexplained) > 0n)
    return (
      'The unexplained credits can be those of another program, so the statement does not tell how many of the held ' +
      'credits are billed. Find the calls on the usage page of the service.'
    );
  const decides = storedCredits(cycle.unknown) > 0n;
  if (unsettled === 0n)
    return (
      'So it has billed none of the held credits' +
      (decides ? ': release the unknown calls with enrich attempts release ATTEMPT' : '.')
    );
  return (
    `So it has billed at most ${formatCredits(unsettled)} of the held credits` +
    (decides ? ': settle each billed call with enrich attempts retry ATTEMPT --credits N' : '.')
  );
}
