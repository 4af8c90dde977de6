import { upsertSearchAttributes } from '@temporalio/workflow';
import type { RunProgress } from './messages.ts';

const statusAttribute = { name: 'EnrichmentStatus', type: 'KEYWORD' } as const;
const waitsForAttribute = { name: 'EnrichmentWaitsFor', type: 'KEYWORD' } as const;
const sourceAttribute = { name: 'EnrichmentSource', type: 'KEYWORD' } as const;
const rowsAttribute = { name: 'EnrichmentRows', type: 'INT' } as const;
const creditsAttribute = { name: 'EnrichmentCreditsSettled', type: 'DOUBLE' } as const;

/** The search attributes of a run. */
export class RunAttributes {
  /**
   * State as last written. Not read from Temporal: after an attribute was renamed or removed in the namespace, a replay
   * would read another state, and Temporal would refuse its decision.
   */
  #written: string | undefined;

  /**
   * Writes the attributes. Only if the state has changed: Temporal Cloud bills each upsert as an action.
   *
   * @param source of the file's contacts; null: leaves the attribute as it is
   */
  write(progress: RunProgress, source: string | null): void {
    const { phase, figures } = progress;
    const waitsFor = waitsForOf(progress);
    const state = `${phase} ${waitsFor}`;
    if (state === this.#written) return;
    this.#written = state;
    upsertSearchAttributes([
      { key: statusAttribute, value: phase },
      { key: waitsForAttribute, value: waitsFor },
      ...(source === null ? [] : [{ key: sourceAttribute, value: source }]),
      ...(figures
        ? [
            { key: rowsAttribute, value: figures.facts.rows },
            { key: creditsAttribute, value: Number(figures.facts.credits.settled) },
          ]
        : []),
    ]);
  }
}

function waitsForOf({ phase, pageWait, pauseReason }: RunProgress): string | null {
  if (phase === 'awaiting approval') return 'approval';
  if (phase === 'awaiting late results') return 'late results';
  if (phase === 'enriching' && pageWait !== null) return 'next call';
  return phase === 'paused' ? (pauseReason?.type ?? null) : null;
}
