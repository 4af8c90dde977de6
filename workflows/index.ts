/** What the worker registers: the exports' names are the workflow types. */
export { enrichmentPage } from './enrichment-page.ts';
export { enrichmentRun } from './enrichment-run.ts';
export { lateResultSweep } from './late-result-sweep.ts';
export { retentionPrune } from './retention-prune.ts';
export { scheduledRun } from './scheduled-run.ts';
