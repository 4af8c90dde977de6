import type { RunInput } from '../../../src/contract/run-input.ts';

export function runInput(runId: string, changes: Partial<RunInput> = {}): RunInput {
  return {
    runId,
    file: 'contacts.csv',
    maxCredits: null,
    batchConcurrency: 2,
    priority: 'ad-hoc',
    searchable: false,
    checksService: false,
    ...changes,
  };
}
