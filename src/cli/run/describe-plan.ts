import type { PlanSummary } from '../../contract/plan-summary.ts';
import { isRunBudgetId } from '../../domain/money/budget-periods.ts';
import { sortByOutcome } from '../../domain/runs/outcome.ts';
import type { RunOptions } from '../../domain/runs/run-options.ts';
import {
  formatCount,
  formatPeopleCount,
  formatNumber,
  formatMinute,
  escapeControlsInLine,
} from '../../domain/text/format.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { formatHeaders } from '../../domain/text/header-name.ts';
import { fieldsOfHeader, recordedNames } from '../../ingest/columns/fields.ts';
import { describeOptOutField } from '../../ingest/columns/opt-outs.ts';
import type { OutputOf } from '../../outputs/outputs.ts';
import type { RunRecord } from '../../runs/runs.ts';
import { flagsOfRun } from './run-option-flags.ts';
import { print, printJson, formatTable, printProgress } from '../terminal/output.ts';
import type { PlannedExport } from './plan-export.ts';

export const noRowsMessage = '  the file has a header and no rows: there are no people to ask for';

/** Formats a plan. @param plannedAt when an earlier command made it; budgets may have changed, and are left out */
export function describePlan(plan: PlanSummary, options: RunOptions, plannedAt?: Date): string {
  const lines = [
    `plan ${plan.plan_hash}${plannedAt ? `, made on ${formatMinute(plannedAt.toISOString())} UTC` : ''}`,
    formatTable([
      ['rows in the file', plan.rows],
      plan.rows_with_email !== null && ['  with an e-mail address', plan.rows_with_email],
      ...Object.entries(sortByOutcome(plan.dropped)).map(([outcome, rows]): [string, number] => [
        // Before a run begins, only the option --only cancels rows.
        `  not asked for: ${outcome === 'cancelled' ? 'left out by --only' : outcome}`,
        rows,
      ]),
      plan.filled > 0 && ['contacts filled with paid data, without a call, at most', plan.filled],
      ['people to ask for', plan.people],
      plan.people_without_phones > 0 && ['  opted out of calls: no phone', plan.people_without_phones],
      ['calls, up to ten people each', plan.calls],
      ['credits, at least', formatNumber(plan.credits.minimum)],
      ['credits, expected', formatNumber(plan.credits.expected)],
      ['credits, worst case', formatNumber(plan.credits.worst_case)],
    ]),
    ...(plan.people > 0 ? [describeExpectation(plan)] : []),
    formatTable([
      ['time', `about ${formatElapsed(plan.eta_seconds)}, within ${plan.rate_limits}`],
      ...Object.entries(flagsOfRun(options)).map(([flag, value]): [string, string] => [`--${flag}`, value]),
    ]),
  ];
  if (plan.rows === 0) lines.push(noRowsMessage);
  if (plan.in_paused_runs)
    lines.push(`  ${plan.in_paused_runs.reason}`, `  next: ${plan.in_paused_runs.next}`);
  lines.push(...plan.unmet_expectations.map((unmet) => `  not as expected: ${unmet}`));
  if (plan.pilot)
    lines.push(
      `  a pilot of ${formatPeopleCount(plan.pilot.people)} comes first; its results decide about the others`,
    );
  if (plan.asks_unknown_again)
    lines.push(
      '  --on-unknown retry repeats calls without an answer: the worst case counts each person twice',
    );
  if (plan.found_before > 0 && options.reveal.length + options.waterfall.length > 0)
    lines.push(
      `  paid for by an earlier run, and paid for again: ${formatPeopleCount(plan.found_before)}, ` +
        'because the record is no longer fresh, or because phones or addresses come only together with the record',
    );
  if (plan.short_budget && plannedAt === undefined) lines.push(describeShortBudget(plan, plan.short_budget));
  return lines.join('\n');
}

export function approvalQuestion({ credits, short_budget: short }: PlanSummary): string {
  // A run that pauses on an empty budget can spend the worst case, once the operator raises the budget.
  const most = short?.on_empty === 'finish' ? short.available : credits.worst_case;
  if (Number(most) <= 0) return 'run this plan? It makes no call and costs nothing';
  return `spend up to ${formatCount(most, 'credit')}?`;
}

/** Rounds expected credits from 100 on to whole credits, because an estimate is not exact to a tenth. */
export function rounded(credits: string): string {
  return formatNumber(Number(credits) < 100 ? credits : Math.round(Number(credits)));
}

/** Says which credits are expected: by earlier calls for this source, or by an assumption. */
function describeExpectation({ credits, expectation }: PlanSummary): string {
  const { low, high, calls, assumption } = expectation;
  const basis = assumption ?? `as the latest ${formatCount(calls, 'call')} for this source cost`;
  return `  expected ${rounded(credits.expected)}, between ${rounded(low)} and ${rounded(high)}: ${basis}`;
}

/** Says for how many people a budget lasts that is below the worst case, and what the run then does. */
function describeShortBudget(
  { credits, people }: PlanSummary,
  { budget, available, on_empty: onEmpty }: NonNullable<PlanSummary['short_budget']>,
): string {
  const isOfRun = isRunBudgetId(budget);
  const name = isOfRun ? 'the limit of the run (--max-credits)' : `budget ${budget}`;
  const [left, expected] = [Number(available), Number(credits.expected)];
  const enough = formatNumber(Math.floor((people * Math.max(0, left)) / expected));
  const reach =
    expected > left ? `for about ${enough} of ${formatPeopleCount(people)}` : 'less than the worst case';
  const then =
    onEmpty === 'finish'
      ? 'people beyond it become over_budget, and a later run asks for them'
      : 'when it is empty, the run pauses until it is raised (--on-budget finish: it ends)';
  return `  ${name} has ${formatNumber(available)} left, ${reach}: ${then}`;
}

export function printPlan(planned: PlannedExport, json: boolean): void {
  if (json) return printJson<'plan'>(planOutput(planned));
  const { run, plan } = planned;
  printProgress(describeMapping(run));
  print(describePlan(plan, run.options));
}

/** The plan as `--json` prints it. */
export function planOutput({ run, plan }: PlannedExport): OutputOf<'plan'> {
  const { short_budget: short } = plan;
  return {
    ...plan,
    // `enrich plan` removes the run of its plan, so no command could use the id of this run's budget.
    short_budget: short && { ...short, budget: isRunBudgetId(short.budget) ? 'run' : short.budget },
    source: run.source,
    mapping: run.mapping,
    warnings: run.warnings,
    flags: flagsOfRun(run.options),
  };
}

/** Lists the columns with their fields, the warnings, and the columns without a field. */
export function describeMapping(
  run: Pick<RunRecord, 'header' | 'mapping' | 'source' | 'warnings' | 'options'>,
): string {
  const { mapping, source, warnings, options } = run;
  const header = run.header ?? [];
  const names = recordedNames(header);
  const fields = fieldsOfHeader(header, mapping ?? {});
  const given = options.mapping?.['columns'] as Readonly<Record<string, unknown>> | undefined;
  const unused = names.filter((_, column) => fields[column] === undefined);
  return [
    `read as ${source ?? 'an unknown source'}:`,
    formatTable(
      names.flatMap((name, column) => {
        const field = fields[column];
        if (!field) return [];
        return [[name, '→', describeOptOutField(header[column]!, field, given?.[field] !== undefined)]];
      }),
    ),
    ...warnings.map((warning) => `  note: ${warning}`),
    ...(unused.length === 0
      ? []
      : [`  not used to find people: ${escapeControlsInLine(formatHeaders(unused))}`]),
  ].join('\n');
}
