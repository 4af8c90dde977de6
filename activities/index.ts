import type { CallActivities, ControlActivities } from '../src/contract/activities.ts';
import type { RunFacts } from '../src/contract/run-facts.ts';
import {
  checkRunService,
  type ServiceCheckDependencies,
  storeCreditStatement,
} from '../src/calls/service-status.ts';
import { enrichBatches } from '../src/calls/batches/enrich-batch.ts';
import type { AttemptDependencies } from '../src/calls/attempt-call.ts';
import {
  syncLateResults,
  syncRunResults,
  type LateResultsDependencies,
} from '../src/late-results/sync-late-results.ts';
import { reconcileContacts } from '../src/runs/reconcile-contacts.ts';
import { finishRun } from '../src/runs/finish-run.ts';
import { ingestRun, type IngestDependencies } from '../src/runs/ingest-run.ts';
import { judgePilot } from '../src/runs/quality-gates.ts';
import { resolveBudgetExhaustion } from '../src/runs/resolve-budget-exhaustion.ts';
import { planRun, type PlanDependencies } from '../src/runs/planning/plan-run.ts';
import { beginScheduledRuns, type ScheduleDependencies } from '../src/runs/begin-scheduled-runs.ts';
import type { Retention } from '../src/domain/runs/retention.ts';
import type { Logger } from '../src/telemetry/log.ts';
import type { Lineage } from '../src/monitoring/lineage.ts';
import { notifyOnFailure } from '../src/monitoring/notifications.ts';
import { prune } from '../src/privacy/prune.ts';
import { lookupRequestOf, openPage } from '../src/runs/pages.ts';
import { readRunFacts } from '../src/runs/read-run-facts.ts';
import { fileNameWithoutPersonalData, getRun, setRunStatus, approveRun } from '../src/runs/runs.ts';
import { mappingFailures, withHeartbeat } from './run-activity.ts';

export type ControlDependencies = PlanDependencies &
  IngestDependencies &
  LateResultsDependencies &
  ServiceCheckDependencies &
  ScheduleDependencies & {
    readonly retention: Retention;
    /** Sender of OpenLineage events. Undefined if none are sent. */
    readonly lineage: Lineage | undefined;
  };

/** The activities of the control queue. Their results are in Temporal's history, so they have no personal data. */
export function createControlActivities(dependencies: ControlDependencies): ControlActivities {
  const { warehouse, retention, lineage, log } = dependencies;
  return {
    ingestExport: ({ runId }) =>
      mappingFailures(log, () => {
        let rows = 0;
        return withHeartbeat(
          async (signal) => {
            const options = { signal, onProgress: (staged: number) => (rows = staged) };
            const staged = await ingestRun(dependencies, runId, options);
            // The result leaves out the error itself, because its text may name a person.
            return staged.kind === 'refused'
              ? { kind: staged.kind, pauseReason: staged.pauseReason }
              : staged;
          },
          () => ({ rows }),
        );
      }),
    planRun: ({ runId }) =>
      beating(log, async () => {
        // Lineage events name the source of the export, which is known now that the export has been read.
        lineage?.started(runId);
        await storeCreditStatement(dependencies, runId);
        const planned = await planRun(dependencies, runId);
        return planned.kind === 'refused'
          ? { kind: planned.kind, pauseReason: planned.pauseReason }
          : planned;
      }),
    checkService: ({ runId }) => beating(log, () => checkRunService(dependencies, runId)),
    setRunStatus: ({ runId, status, pauseReason, by, updateId }) =>
      beating(log, async () => {
        if (by === 'approval') await approveRun(warehouse, runId);
        await setRunStatus(warehouse, runId, status, pauseReason, { byOperator: by === 'resume', updateId });
        const facts = await readRunFacts(warehouse, runId);
        const type = facts.reason_type;
        log.info({ runId, status: facts.status, ...(type !== null && { type }) }, 'a run changed its status');
        if (status === 'failed') lineage?.ended(facts);
        return storedFacts(facts);
      }),
    readRunFacts: ({ runId }) => beating(log, async () => storedFacts(await readRunFacts(warehouse, runId))),
    openPage: ({ runId, page }) =>
      beating(log, async () => {
        const run = await getRun(warehouse, runId);
        return openPage(warehouse, runId, page, lookupRequestOf(run.options));
      }),
    syncLateResults: ({ runId }) => beating(log, (signal) => syncRunResults(dependencies, runId, signal)),
    sweepLateResults: () =>
      beating(log, async (signal) => ({
        applied: await syncLateResults(dependencies, 'unattended', signal),
      })),
    pruneWarehouse: () =>
      beating(log, async (signal) => {
        const { answers, deliveries, quarantine, staging, held } = await prune(warehouse, retention, signal);
        const bodies = deliveries.count + quarantine.count;
        return { answers: answers.count, deliveries: bodies, rows: staging.rows, heldRuns: held.length };
      }),
    beginScheduledRuns: (request) =>
      beating(log, (signal) =>
        notifyOnFailure(warehouse, request, () => beginScheduledRuns(dependencies, request, signal)),
      ),
    judgePilot: ({ runId }) => beating(log, () => judgePilot(warehouse, runId)),
    resolveBudgetExhaustion: ({ runId }) => beating(log, () => resolveBudgetExhaustion(warehouse, runId)),
    reconcileContacts: ({ runId }) => beating(log, (signal) => reconcileContacts(warehouse, runId, signal)),
    finishRun: ({ runId, ending, budget }) =>
      beating(log, async () => {
        const facts = await finishRun(warehouse, runId, ending, budget);
        await storeCreditStatement(dependencies, runId);
        const { status, rows, calls, credits } = facts;
        if (status === 'paused') return storedFacts(facts);
        log.info({ runId, status, rows, calls, credits }, 'a run has ended');
        lineage?.ended(facts);
        return storedFacts(facts);
      }),
  };
}

/** Returns a run's facts as Temporal stores them. Personal data is removed from the file name. */
function storedFacts(facts: RunFacts): RunFacts {
  return { ...facts, file: fileNameWithoutPersonalData({ fileName: facts.file }) };
}

export function createCallActivities(
  dependencies: Omit<AttemptDependencies, 'log'>,
  log: Logger,
): CallActivities {
  return {
    enrichBatches: (request) =>
      mappingFailures(log, () => {
        let done = 0;
        return withHeartbeat(
          (signal) =>
            enrichBatches({ ...dependencies, log }, request, {
              signal,
              onDone: (batches) => (done = batches),
            }),
          () => ({ batches: request.batches.length, done }),
        );
      }),
  };
}

/** Runs work with heartbeats, even short work: Temporal would otherwise notice a dead worker only at the timeout. */
function beating<Result>(log: Logger, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  return mappingFailures(log, () => withHeartbeat(work));
}
