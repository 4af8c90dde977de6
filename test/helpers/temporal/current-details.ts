import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'vitest';
import type { RunFacts } from '../../../src/contract/run-facts.ts';

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
  const shown = Object.entries(details).filter(([name]) => name.startsWith('rows '));
  expect(Object.fromEntries(shown)).toEqual(
    Object.fromEntries(
      Object.entries(facts.outcomes)
        .filter(([, count]) => count > 0)
        .map(([name, count]) => [`rows ${name}`, String(count)]),
    ),
  );
  const { settled, reserved, unknown } = facts.credits;
  expect(details).toMatchObject({
    'rows, sum': `${facts.rows} of ${facts.rows}`,
    calls: String(facts.calls),
    'credits settled': settled,
    'credits reserved': reserved,
    'credits unknown': unknown,
    'budget of the run': facts.max_credits ?? 'none',
  });
}
