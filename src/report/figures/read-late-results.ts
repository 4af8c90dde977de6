import { sql } from 'kysely';
import type { Warehouse } from '../../db/database.ts';
import { readLateResultsStatus } from '../../late-results/late-results-status.ts';
import type { ReportedLateResults } from '../report-types.ts';

interface Deliveries {
  readonly median: number | null;
  readonly longest: number | null;
}

/** Reads the state of a run's late results, and their delays in seconds. */
export async function readLateResults(warehouse: Warehouse, runId: string): Promise<ReportedLateResults> {
  const status = await readLateResultsStatus(warehouse, runId);
  const counted = await sql<Deliveries>`
    select
      round(percentile_cont(0.5) within group (order by seconds) filter (where status = 'applied'))::int as median,
      round(max(seconds) filter (where status = 'applied'))::int as longest
    from (
      select d.status, greatest(0, extract(epoch from d.received_at - a.answered_at))::float8 as seconds
      from webhook_deliveries d
      join attempts a using (attempt_id)
      where d.run_id = ${runId}
    ) delivery
  `.execute(warehouse.database);
  const { median, longest } = counted.rows[0]!;
  const { awaited, expired, arrived, polled, late, orphaned, duplicate, quarantined, waiting } = status;
  return {
    awaited,
    expired,
    arrived,
    late,
    polled,
    duplicate,
    orphaned,
    quarantined,
    waiting,
    median_seconds: median,
    longest_seconds: longest,
  };
}
