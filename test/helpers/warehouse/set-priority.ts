import type { RunPriority } from '../../../src/contract/run-priorities.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

/** Gives a run another priority, as if it had begun with it. */
export async function setPriority(
  { query }: Pick<TestWarehouse, 'query'>,
  runId: string,
  priority: RunPriority,
): Promise<void> {
  await query`
    update enrichment.runs set options = jsonb_set(options, '{priority}', to_jsonb(${priority}::text))
    where run_id = ${runId}`;
}
