import { formatCredits, storedCredits } from '../../../domain/money/decimal.ts';
import type { Reconciliation } from '../../../ledger/credit-statements.ts';
import { counted } from '../../../domain/text/format.ts';
import { table } from '../../terminal/output.ts';

/** A table of the service's statements and the credits in the warehouse, one row a credit cycle. */
export function reconciliationTable(cycles: readonly Reconciliation[]): string {
  return table([
    ['credit cycle', 'from', 'to', 'billed', 'settled', 'held', 'unexplained'],
    ...cycles.map((cycle) => [
      nameOf(cycle),
      cycle.from.toISOString(),
      cycle.to.toISOString(),
      cycle.billed,
      cycle.settled,
      cycle.held,
      cycle.unexplained,
    ]),
  ]);
}

/**
 * What the statements of the service say about calls of unknown cost, as lines for a person: by the statements of the
 * cycle in which a call began. Without such a call, the newest cycle.
 *
 * @param cycles the newest first
 */
export function describeBill(
  cycles: readonly Reconciliation[],
  unknown: readonly { readonly admitted_at: Date }[],
): readonly string[] {
  const [newest] = cycles;
  if (!newest) return [];
  const isOf = (
    { from, to }: Reconciliation,
    { admitted_at: time }: { readonly admitted_at: Date },
  ): boolean => time >= from && time <= to;
  const ofCalls = cycles.filter((cycle) => unknown.some((call) => isOf(cycle, call)));
  const unstated = unknown.filter((call) => !cycles.some((cycle) => isOf(cycle, call)));
  const later = unstated.filter(({ admitted_at: time }) => time > newest.to).length;
  const others = unstated.length - later;
  return [
    ...(ofCalls.length > 0 ? ofCalls : [newest]).map(describeReconciliation),
    ...(later > 0
      ? [`${counted(later, 'call')} began after the last statement: enrich usage --reconcile reads a new one`]
      : []),
    ...(others > 0
      ? [`${counted(others, 'call')} began at a time without statements: see the usage page of the service`]
      : []),
  ];
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

/** What follows from the statements for held credits: those of the newest cycle, and of cycles with unknown calls. */
export function conclusionsOf(cycles: readonly Reconciliation[]): string {
  return cycles
    .filter((cycle, index) => index === 0 || storedCredits(cycle.unknown) > 0n)
    .flatMap((cycle) => {
      const conclusion = conclusionOf(cycle);
      if (conclusion === '') return [];
      return cycles.length > 1 ? `${nameOf(cycle)}: ${conclusion}` : conclusion;
    })
    .join('\n');
}

function nameOf({ cycle_start: start, cycle_end: end }: Reconciliation): string {
  return `${start ?? '?'} to ${end ?? '?'}`;
}

/**
 * What follows from a statement, above all for the held credits. Another program can have used credits that look like
 * those of held calls, so the billed part of the held credits is known only as a maximum.
 */
function conclusionOf(cycle: Reconciliation): string {
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
      (decides ? ': release the unknown calls of this time with enrich attempts release ATTEMPT' : '.')
    );
  return (
    `So it has billed at most ${formatCredits(unsettled)} of the held credits` +
    (decides ? ': settle each billed call with enrich attempts settle ATTEMPT --credits N' : '.')
  );
}
