import { isDeepStrictEqual } from 'node:util';
import { parseStoredCredits } from '../../domain/money/decimal.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { optionNamesDeciding, pickOptions } from '../../domain/runs/run-options.ts';
import { formatCount } from '../../domain/text/format.ts';
import { findUnfinishedRun } from '../../runs/begin-run.ts';
import { enrichExport } from '../run/enrich-export.ts';
import { planExport, type PlannedExport } from '../run/plan-export.ts';
import { parseCreditsFlag } from '../run/run-option-flags.ts';
import type { SpecifiedRun } from '../run/run-spec.ts';
import type { Session } from '../session/session.ts';
import { reportFailure } from '../terminal/output.ts';
import type { SharedSession } from './shared-session.ts';

/** Refuses a run unless its plan is among `shown` hashes and costs at most `maximum` credits. */
export async function checkPlan(
  session: Session,
  spec: SpecifiedRun,
  { shown, maximum }: { readonly shown: ReadonlySet<string>; readonly maximum: number },
): Promise<void> {
  const credits = parseCreditsFlag('max_credits', String(maximum), 'write a number such as 500 or 12.5');
  const begun = await findUnfinishedRun(session.warehouse, spec);
  const hash = spec.expectedPlanHash ?? '';
  if (!shown.has(hash) && !(begun?.isApproved === true && begun.planHash === hash))
    throw new UsageProblem('plan.not-shown', 'the tool plan has shown no plan with this hash', {
      where: 'plan_hash',
      next: 'call plan with this file and these options, and show the plan to the user',
    });
  if (begun && !isDeepStrictEqual(gatesOf(begun), gatesOf(spec)))
    throw new UsageProblem('plan.changed', 'the unfinished run of this file has other options', {
      where: begun.runId,
      next: 'call run with the options of its plan, or let the operator cancel the run',
    });
  // A new plan would leave out the people of the unfinished run, because their calls are in flight.
  const planned = begun?.plan ? { run: begun, plan: begun.plan } : await planExport(session, spec);
  const most = maxCreditsOfPlan(planned);
  if (parseStoredCredits(most) <= parseStoredCredits(credits)) return;
  const what = `the plan can cost ${formatCount(most, 'credit')}; nothing was spent`;
  throw new UsageProblem('plan.above-maximum', what, {
    where: `max_credits ${credits}`,
    next:
      `ask the user for ${most} credits; or plan with the option max-credits ${credits}: the run then leaves the ` +
      'remaining people over_budget',
  });
}

/** Returns the quality gates, the only options of an unfinished run that a repeated command replaces. */
function gatesOf({ options }: Pick<SpecifiedRun, 'options'>) {
  return pickOptions(options, optionNamesDeciding('gate'));
}

/** Returns the most that a run can cost: its worst case, or a lower `--max-credits`. */
function maxCreditsOfPlan({ run, plan }: PlannedExport): string {
  const { worst_case: worst } = plan.credits;
  const { maxCredits } = run.options;
  return maxCredits !== null && parseStoredCredits(maxCredits) < parseStoredCredits(worst)
    ? maxCredits
    : worst;
}

/** Starts a run and lets it continue until `interrupted`. @returns its id, once it has started or needs the operator */
export function startRun(runs: SharedSession, spec: SpecifiedRun, interrupted: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const enrich = (session: Session) =>
      enrichExport(session, spec, false, { interrupted, onStart: resolve });
    runs.use(enrich).then(
      (facts) => resolve(facts.run_id),
      (error: unknown) => {
        reportFailure(error, false);
        reject(error);
      },
    );
  });
}
