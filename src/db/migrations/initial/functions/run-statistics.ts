const tables = [
  'run_rows',
  'run_people',
  'claims',
  'attempts',
  'attempt_people',
  'contact_records',
  'contact_matches',
  'observation_log',
];

/**
 * Turns statistics of run ids off. They lack a run that began after the last ANALYZE, so PostgreSQL expected no rows of
 * the run and read all of them for each person of a call. Without statistics PostgreSQL expects one row in 200.
 */
export const runStatistics = tables.map(
  (table) => `alter table enrichment.${table} alter column run_id set statistics 0`,
);
