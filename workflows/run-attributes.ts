import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { RunProgress } from './messages.ts';

const statusAttribute = { name: 'EnrichmentStatus', type: 'KEYWORD' } as const;
const waitsForAttribute = { name: 'EnrichmentWaitsFor', type: 'KEYWORD' } as const;
const sourceAttribute = { name: 'EnrichmentSource', type: 'KEYWORD' } as const;
const rowsAttribute = { name: 'EnrichmentRows', type: 'INT' } as const;
const creditsAttribute = { name: 'EnrichmentCreditsSettled', type: 'DOUBLE' } as const;

/**
 * Writes the search attributes of a run. Only if the state has changed: Temporal Cloud bills each upsert as an action.
 *
 * @param source of the file's contacts; null: leaves the attribute as it is
 */
export function upsertRunAttributes(progress: RunProgress, source: string | null): void {
  const { phase, figures } = progress;
  const shown = workflowInfo().typedSearchAttributes;
  const waitsFor = waitsForOf(progress);
  if (shown.get(statusAttribute) === phase && (shown.get(waitsForAttribute) ?? null) === waitsFor) return;
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

function waitsForOf({ phase, pageWait, pauseReason }: RunProgress): string | null {
  if (phase === 'awaiting approval') return 'approval';
  if (phase === 'awaiting late results') return 'late results';
  if (phase === 'enriching' && pageWait !== null) return 'next call';
  return phase === 'paused' ? (pauseReason?.type ?? null) : null;
}
