import { describeAskedService } from '../domain/runs/run-options.ts';
import { formatNumber } from '../domain/text/format.ts';
import type { RunFacts } from './run-facts.ts';

/** A figure of a run as the terminal and the Temporal UI show it. */
export type FigureRow = readonly [name: string, value: string | number];

/** The figures of a run: every outcome that occurs, with the sum of the rows, calls, credits and late results. */
export function figureRows(facts: RunFacts): FigureRow[] {
  const { outcomes, filled, calls, credits, max_credits: limit, service } = facts;
  const present = Object.entries(outcomes).filter(([, rows]) => rows > 0);
  return [
    ...present.map(([outcome, rows]): FigureRow => [
      facts.status === 'failed' && outcome === 'open' ? 'not asked for' : outcome,
      rows,
    ]),
    ['rows', present.reduce((sum, [, rows]) => sum + rows, 0)],
    ...(filled > 0 ? [['contacts filled without a call', filled] as const] : []),
    ['calls', calls],
    ['credits settled', formatNumber(credits.settled)],
    ['credits reserved', formatNumber(credits.reserved)],
    ['credits unknown', formatNumber(credits.unknown)],
    ['budget of the run', limit === null ? 'none' : formatNumber(limit)],
    ...lateRows(facts),
    ['service', describeAskedService(service)],
  ];
}

function lateRows({ late_results: late }: RunFacts): FigureRow[] {
  const rows: FigureRow[] = [
    ['late results awaited, calls', late.awaited],
    ['late results expired, calls', late.expired],
    ['deliveries applied', late.arrived],
    ['  of these by poll', late.polled],
    ['  of these after the run', late.late],
    ['deliveries repeated', late.duplicate],
    ['deliveries in quarantine', late.quarantined],
  ];
  return rows.filter(([, count]) => count !== 0);
}
