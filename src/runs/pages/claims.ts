import { sql } from 'kysely';

/**
 * SQL text that says why a person claimed by another run is not asked for, over `claims c` and its row `run_rows
 * claimed`. A claim outlives its run only if the call for the person is unknown. An operator then decides.
 */
export const reasonOfClaim = sql<string>`case when claimed.outcome = 'unknown'
  then 'a call of run ' || c.run_id || ' for this person is unknown: enrich attempts list ' || c.run_id
  else 'being asked for by run ' || c.run_id end`;
