import type { RunInput } from '../../../src/contract/run-input.ts';

/** The input of an approved run. */
export function runInput(runId: string, changes: Partial<RunInput> = {}): RunInput {
  return {
    runId,
    file: 'contacts.csv',
    maxCredits: null,
    approved: true,
    batchConcurrency: 2,
    priority: 'ad-hoc',
    searchable: false,
    checksService: false,
    ...changes,
  };
}
