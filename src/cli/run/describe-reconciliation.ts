import { billedOfHeld, type Reconciliation } from '../../ledger/credit-statements.ts';
import { table } from '../terminal/output.ts';

/** A table of the service's statements and the ledger's credits, one row a credit cycle. */
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

/** Compares the service's statement of one credit cycle with the ledger, as text for a person. */
export function describeReconciliation(cycle: Reconciliation): string {
  const { from, to, billed, settled, held, unknown, unexplained } = cycle;
  const ofHeld = billedOfHeld(cycle);
  return (
    `The service billed ${billed} credits from ${from.toISOString()} to ${to.toISOString()}. ` +
    `The ledger settled ${settled} and holds ${held}, ` +
    `of which ${unknown} are for calls whose cost is unknown. Unexplained: ${unexplained}.` +
    (ofHeld === undefined ? '' : ` So it has billed ${ofHeld} of the held credits.`)
  );
}
