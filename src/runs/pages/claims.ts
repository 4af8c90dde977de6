import { sql } from 'kysely';

/**
 * Why a person whom another run has claimed is not asked for, in SQL: over `claims c`, and `run_rows claimed` for the
 * row that claims. A claim outlives its run only where the call for that person is unknown; then a person has to
 * decide.
 */
export const reasonOfClaim = sql<string>`case when claimed.outcome = 'unknown'
  then 'a call of run ' || c.run_id || ' for this person is unknown: enrich attempts list ' || c.run_id
  else 'being asked for by run ' || c.run_id end`;
