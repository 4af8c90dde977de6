const tables = [
  'run_rows',
  'run_people',
  'claims',
  'attempts',
  'attempt_people',
  'contact_records',
  'contact_matches',
  'observations',
  'contacts',
];

/**
 * No statistics of run ids. A run that began after the last ANALYZE is not in them, and PostgreSQL takes it to have no
 * rows: it then read every row of the run for each person of a call. Without statistics it expects one row in 200.
 */
export const runStatistics = tables.map(
  (table) => `alter table enrichment.${table} alter column run_id set statistics 0`,
);
