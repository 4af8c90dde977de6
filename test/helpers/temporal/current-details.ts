import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'vitest';
import { figureRows } from '../../../src/contract/figure-rows.ts';
import type { RunFacts } from '../../../src/contract/run-facts.ts';
import { outcomes } from '../../../src/domain/runs/outcome.ts';

/** Reads the current details of a workflow, as Temporal's UI shows them, as names and values. Needs a worker. */
export async function currentDetails(handle: WorkflowHandle): Promise<Record<string, string>> {
  const { currentDetails: text } = await handle.query<{ currentDetails: string }>(
    '__temporal_workflow_metadata',
  );
  const rows = text
    .replaceAll('\u00a0', ' ')
    .matchAll(/^\| (?:\*\*)?(.+?)(?:\*\*)? \| (?:\*\*)?(.*?)(?:\*\*)? \|$/gm);
  return Object.fromEntries([...rows].map(([, name, value]) => [name!, value!]));
}

/** Expects the details to show the same outcomes, sum, calls and credits as the tables. */
export function expectFiguresOf(details: Record<string, string>, facts: RunFacts): void {
  const shown = figureRows(facts).map(([name, value]) => [name, String(value)] as const);
  expect(details).toMatchObject(Object.fromEntries(shown));
  const ofOutcomes = Object.keys(details).filter((name) => [...outcomes, 'open'].includes(name));
  expect(ofOutcomes).toHaveLength(Object.values(facts.outcomes).filter((rows) => rows > 0).length);
}
