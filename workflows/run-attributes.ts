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

  /** Writes the attributes. Only if the state has changed: Temporal Cloud bills each upsert as an action. */
  write({ status, waitsFor, figures }: RunProgress): void {
    const state = `${status} ${waitsFor?.type}`;
    if (state === this.#written) return;
    this.#written = state;
    const facts = figures?.facts;
    upsertSearchAttributes([
      { key: statusAttribute, value: status },
      { key: waitsForAttribute, value: waitsFor?.type ?? null },
      // Before the export is read, the attribute has the source that the command names.
      ...(facts?.source ? [{ key: sourceAttribute, value: facts.source }] : []),
      ...(facts
        ? [
            { key: rowsAttribute, value: facts.rows },
            { key: creditsAttribute, value: Number(facts.credits.settled) },
          ]
        : []),
    ]);
  }
}
