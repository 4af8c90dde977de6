import type { Reconciliation } from '../../ledger/credit-statements.ts';
import { table } from '../terminal/output.ts';

/** The service's statements beside the ledger, a row a credit cycle. */
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

/** What the service says was consumed beside what the ledger explains, in one sentence. */
export function describeReconciliation(cycle: Reconciliation): string {
  const { from, billed, settled, held, unknown, unexplained } = cycle;
  return (
    `The service billed ${billed} credits since ${from.toISOString()}. The ledger settled ${settled} and ` +
    `holds ${held}, ` +
    `of which ${unknown} are for calls whose cost is unknown. Unexplained: ${unexplained}.`
  );
}
