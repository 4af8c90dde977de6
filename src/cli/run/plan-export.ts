import { serviceName } from '../../config/settings.ts';
import type { PlanSummary } from '../../contract/plan-summary.ts';
import { counted } from '../../domain/text/counted.ts';
import { visibleInLine } from '../../domain/text/visible.ts';
import { ingestRun } from '../../runs/ingest-run.ts';
import { planRun } from '../../runs/planning/plan-run.ts';
import { Problem, exitCodes } from '../../domain/problem.ts';
import { findOrBeginRun } from '../../runs/begin-run.ts';
import { giveSpaceBack, removePlans } from '../../runs/planning/discard-plan.ts';
import { endPlan, withPlanLock } from '../../runs/planning/plan-lock.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { describePlan } from './describe-run.ts';
import { onInterruption } from '../../dev/interruption.ts';
import { endChangingLine, print, printJson, showChangingLine, table, tell } from '../terminal/output.ts';
import type { SpecifiedRun } from './run-spec.ts';
import type { Session } from '../session/session.ts';

/** As of a command that Ctrl-C ends. */
const exitCodeOfInterrupt = 130;

/** What a plan is made with. */
type Planning = Pick<Session, 'config' | 'warehouse'>;

export interface PlannedExport {
  readonly run: RunRecord;
  readonly plan: PlanSummary;
}

/**
 * Plans an export without Temporal and without the service: what `enrich run` would do with it now. Spends nothing;
 * what was staged for it is not kept.
 */
export async function planExport(session: Planning, spec: SpecifiedRun): Promise<PlannedExport> {
  const { warehouse, config } = session;
  const dependencies = {
    warehouse,
    service: serviceName(config),
    rateLimits: config.rateLimits,
    budgets: config.budgets.perPeriod,
    callConcurrency: config.callConcurrency,
    exportAccess: { ...config.exportAccess, pool: warehouse.pool },
  };
  try {
    return await withStagedExport(session, spec, async (runId) => {
      const planned = await planRun(dependencies, runId);
      if (planned.kind === 'refused') throw refusal(planned.pauseReason);
      return { run: await getRun(warehouse, runId), plan: planned.plan };
    });
  } finally {
    await removePlans(warehouse);
  }
}

/** Stages an export to read who is in it, and removes the staged rows, also those of a killed command. */
export async function withStagedExport<Result>(
  session: Planning,
  spec: SpecifiedRun,
  use: (runId: string) => Promise<Result>,
): Promise<Result> {
  return withPlanLock(session.warehouse, () => stageAndUse(session, spec, use));
}

async function stageAndUse<Result>(
  session: Planning,
  spec: SpecifiedRun,
  use: (runId: string) => Promise<Result>,
): Promise<Result> {
  const { warehouse } = session;
  // A key of its own: reading an export must neither find nor disturb an unfinished run of the same file.
  const { run } = await findOrBeginRun(warehouse, { ...spec, planOnly: true });
  const stopped = new AbortController();
  const leave = onInterruption((_signal, exitCode, repeated) => {
    if (repeated) process.exit(exitCode);
    tell(
      '\nstopping: what was read of the file is discarded; a second Ctrl-C leaves that to the next command',
    );
    stopped.abort();
  });
  try {
    await ingestHere(session, run.runId, spec.fetched, stopped.signal);
    stopped.signal.throwIfAborted();
    return await use(run.runId);
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    throw new Problem('interrupted', 'stopped before the export was read', {
      next: 'give the command again; nothing was spent',
      exitCode: exitCodeOfInterrupt,
    });
  } finally {
    leave();
    await endPlan(warehouse, run.runId);
    if (session.config.databaseUrl === undefined) await giveSpaceBack(warehouse);
  }
}

/**
 * Stages a run in this process: what only this command can read, or has fetched already.
 *
 * @param fetched the path of what was fetched; it is not there any more afterwards
 * @throws Problem where the export is refused
 */
export async function ingestHere(
  { warehouse, config }: Planning,
  runId: string,
  fetched: string | undefined,
  signal = new AbortController().signal,
): Promise<void> {
  const exportAccess = { ...config.exportAccess, pool: warehouse.pool };
  const ingested = await ingestRun({ warehouse, exportAccess }, runId, {
    fetched,
    signal,
    onProgress: (rows) => process.stderr.isTTY && showChangingLine(`read ${counted(rows, 'row')}`),
  }).finally(endChangingLine);
  if (ingested.kind === 'refused') throw refusal(ingested.pauseReason);
}

/** The plan, and the mapping that it rests on. */
export function printPlan({ run, plan }: PlannedExport, json: boolean): void {
  if (json) {
    printJson<'plan'>({
      plan_hash: plan.planHash,
      source: run.source,
      mapping: run.mapping,
      warnings: run.warnings,
      rows: plan.rows,
      rows_with_email: plan.withEmail,
      dropped: plan.dropped,
      filled: plan.filled,
      people: plan.people,
      people_without_phones: plan.peopleWithoutPhones,
      calls: plan.calls,
      credits: {
        minimum: plan.credits.minimum,
        expected: plan.credits.expected,
        worst_case: plan.credits.worstCase,
      },
      expectation: plan.expectation,
      unmet_expectations: plan.unmet,
      pilot: plan.pilot,
      asks_unknown_again: plan.asksUnknownAgain,
      short_budget: plan.shortBudget && {
        budget: plan.shortBudget.budget,
        available: plan.shortBudget.available,
        on_empty: plan.shortBudget.onEmpty,
      },
      eta_seconds: plan.etaSeconds,
    });
    return;
  }
  tell(describeMapping(run));
  print(describePlan(plan));
}

/** Which column of the file was taken for what, in the order of the file. */
export function describeMapping(run: RunRecord): string {
  const mapping = run.mapping ?? {};
  const used = (run.header ?? []).filter((name) => name in mapping);
  const unused = (run.header ?? []).filter((name) => !(name in mapping));
  return [
    `recognised as ${run.source ?? 'nothing'}:`,
    table(used.map((name) => [name, '→', String(mapping[name])])),
    ...run.warnings.map((warning) => `  note: ${warning}`),
    ...(unused.length === 0 ? [] : [`  not used to find people: ${unused.map(visibleInLine).join(', ')}`]),
  ].join('\n');
}

/** Nothing has begun that could fail: what was given is at fault. */
function refusal(pauseReason: { type: string; reason: string; next: string }): Problem {
  return new Problem(pauseReason.type, pauseReason.reason, {
    next: pauseReason.next,
    exitCode: exitCodes.usage,
  });
}
