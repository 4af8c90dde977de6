/** The workflows that a worker registers. The names of the exports are the workflow types. */
export { enrichmentPage } from './enrichment-page.ts';
export { enrichmentRun } from './enrichment-run.ts';
export { scheduledRun } from './scheduled-run.ts';
export { lateResultSweep, retentionPrune } from './upkeep.ts';
