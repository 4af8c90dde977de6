import { keptPlanSettings } from '../../session-settings.ts';

/** Clauses of a function that works on the rows of one call. */
export const keptPlans = Object.entries(keptPlanSettings)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join('\n    ');
