import type { ScheduledOptions } from '../../../src/domain/runs/run-options.ts';

/** The options of a run or schedule without any flag. */
export const unsetOptions = {
  source: null,
  mapping: null,
  maxCredits: null,
  reveal: [],
  waterfall: [],
  maxCreditsPerPerson: null,
  freshness: null,
  lateDeadlineSeconds: null,
  onBudget: null,
  onUnknown: 'hold',
  minMatchRate: null,
  expectations: null,
  only: [],
  orderBy: null,
} as const satisfies ScheduledOptions;
