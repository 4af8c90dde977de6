import { formatNumber } from '../domain/text/format.ts';
import type { RunFacts } from './run-facts.ts';

/** A name and value of a run's facts, as the terminal and the Temporal UI show them. */
export type FigureRow = readonly [name: string, value: string | number];

/** Formats a run's facts as rows: outcomes, calls and credits always, other counts only if they are not zero. */
export function figureRows(facts: RunFacts): FigureRow[] {
  const { outcomes, filled, calls, credits, max_credits: limit, late_results: late } = facts;
  const present = Object.entries(outcomes).filter(([, rows]) => rows > 0);
  return [
    ...present.map(([outcome, rows]): FigureRow => [
      facts.status === 'failed' && outcome === 'open' ? 'not asked for' : outcome,
      rows,
    ]),
    ['rows', present.reduce((sum, [, rows]) => sum + rows, 0)],
    ...withoutZeros([['contacts filled without a call', filled]]),
    ['calls', calls],
    ['credits settled', formatNumber(credits.settled)],
    ...(limit === null ? [] : [['budget of the run', formatNumber(limit)] as const]),
    ...withoutZeros([
      ['credits reserved', formatNumber(credits.reserved)],
      ['credits unknown', formatNumber(credits.unknown)],
      ['late results awaited, calls', late.awaited],
      ['late results expired, calls', late.expired],
      ['deliveries applied', late.arrived],
      ['  of these by poll', late.polled],
      ['  of these after the run', late.late],
      ['deliveries repeated', late.duplicate],
      ['deliveries in quarantine', late.quarantined],
    ]),
  ];
}

function withoutZeros(rows: readonly FigureRow[]): readonly FigureRow[] {
  return rows.filter(([, figure]) => String(figure) !== '0');
}
