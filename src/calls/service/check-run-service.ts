import type { ServiceCheck } from '../../contract/activities.ts';
import { lateKindsOf } from '../../domain/late-results/delivery-kinds.ts';
import { exitCodes, Problem } from '../../domain/problem.ts';
import type { Logger } from '../../telemetry/log.ts';
import { getRun } from '../../runs/runs.ts';
import type { PollDependencies } from '../../late-results/sync-late-results.ts';
import { describeServiceStatus, readServiceStatus } from './service-status.ts';

export interface ServiceCheckDependencies extends PollDependencies {
  /** Whether the service can reach our receiver; otherwise late results come by polls only. */
  readonly isDeliveredTo: boolean;
  readonly log: Logger;
}

/**
 * Checks the worker's credential at the service before a run spends credits. Costs nothing.
 *
 * @returns `refused` if every call of this run would fail until an operator changes something
 */
export async function checkRunService(
  dependencies: ServiceCheckDependencies,
  runId: string,
): Promise<ServiceCheck> {
  const { options } = await getRun(dependencies.warehouse, runId);
  const polls = !dependencies.isDeliveredTo && lateKindsOf(options).length > 0;
  try {
    const status = describeServiceStatus(await readServiceStatus(dependencies, { polls })).join('; ');
    dependencies.log.info({ runId }, status);
    return { kind: 'ready', status };
  } catch (error) {
    if (!(error instanceof Problem) || !error.type.startsWith('service.')) throw error;
    const next = `${forWorkers(error)}; then: enrich resume ${runId}`;
    return { kind: 'refused', pauseReason: { type: error.type, reason: error.message, next } };
  }
}

/** The advice of a failure for a run: its settings are those of the workers, who read them at their start. */
export function forWorkers({ next, exitCode }: Problem): string {
  return exitCode === exitCodes.usage
    ? `${next}; settings are those of the workers: restart them after a change`
    : next;
}
