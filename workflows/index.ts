/** What the worker registers: the exports' names are the workflow types. */
export { enrichmentPage } from './enrichment-page.ts';
export { enrichmentRun } from './enrichment-run.ts';
export { scheduledRun } from './scheduled-run.ts';
export { lateResultSweep, retentionPrune } from './upkeep.ts';
