import { serviceName } from '../../config/settings.ts';
import { formatCount } from '../../domain/text/format.ts';
import { withoutPersonalData } from '../../domain/text/without-personal-data.ts';
import { ingestRun } from '../../runs/ingest-run.ts';
import { planRun } from '../../runs/planning/plan-run.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { findOrBeginRun } from '../../runs/begin-run.ts';
import {
  discardAbandonedPlans,
  endPlan,
  vacuumPlannedRows,
  removePlans,
} from '../../runs/planning/end-plan.ts';
import { getRun } from '../../runs/runs.ts';
import { keepProgressLine, showProgressLine } from '../terminal/output.ts';
import type { SpecifiedRun } from './run-spec.ts';
import type { Session } from '../session/session.ts';

type Planning = Pick<Session, 'config' | 'warehouse'>;

export type PlannedExport = Awaited<ReturnType<typeof planExport>>;

/** Plans an export. Its rows are removed again, also after an error. @throws Problem */
export async function planExport(session: Planning, spec: SpecifiedRun) {
  const { warehouse, config } = session;
  const dependencies = {
    warehouse,
    service: serviceName(config),
    rateLimits: config.rateLimits,
    budgets: config.budgets.perPeriod,
    callConcurrency: config.callConcurrency,
  };
  try {
    return await withStagedExport(session, spec, async (runId) => {
      const planned = await planRun(dependencies, runId);
      if (planned.kind === 'refused') throw planned.problem;
      return { run: await getRun(warehouse, runId), plan: planned.plan };
    });
  } finally {
    await removePlans(warehouse);
  }
}

/** Stages an export, calls `use` with the run, then removes the staged rows. */
export async function withStagedExport<Result>(
  session: Planning,
  spec: SpecifiedRun,
  use: (runId: string) => Promise<Result>,
): Promise<Result> {
  const { warehouse, config } = session;
  await discardAbandonedPlans(warehouse);
  // `planOnly` keeps the staged export apart from an unfinished run of the same file.
  const { run } = await findOrBeginRun(warehouse, { ...spec, planOnly: true });
  try {
    await ingestInThisProcess(session, run.runId, spec.fetched);
    return await use(run.runId);
  } finally {
    await endPlan(warehouse, run.runId);
    if (config.databaseUrl === undefined) await vacuumPlannedRows(warehouse);
  }
}

/** Stages an export in this process, when workers cannot read the export or this command has downloaded it. */
export async function ingestInThisProcess(
  { warehouse, config }: Planning,
  runId: string,
  fetched: string | undefined,
): Promise<void> {
  const exportAccess = { ...config.exportAccess, pool: warehouse.pool };
  const ingested = await ingestRun({ warehouse, exportAccess }, runId, {
    fetched,
    signal: new AbortController().signal,
    onProgress: (rows) => process.stderr.isTTY && showProgressLine(`read ${formatCount(rows, 'row')}`),
  }).finally(keepProgressLine);
  if (ingested.kind === 'ingested') return;
  const { pauseReason, problem } = ingested;
  const { message, where } = problem;
  throw new UsageProblem(problem.type, withoutPersonalData(message), {
    next: pauseReason.next,
    where: where && withoutPersonalData(where),
  });
}
