import { Command } from 'commander';
import { describeService } from './describe-service.ts';
import { tell } from './output.ts';
import { planExport, printPlan } from './plan-export.ts';
import { withRunOptions } from './run.ts';
import { orderRun, type RunFlags } from './run-order.ts';
import { withSession } from './session.ts';
import { settingsOf, withSettings } from './settings.ts';

interface PlanOptions extends RunFlags {
  readonly json?: boolean;
  readonly maxCredits?: string;
  readonly freshness?: string;
  readonly lateDeadline?: string;
}

/** `enrich plan FILE` */
export function planCommand(): Command {
  return withRunOptions(withSettings(new Command('plan')))
    .description('say what a run of this file would ask for, cost and take; spends nothing')
    .argument('<file>', 'CSV export of a CRM (plain or gzip)')
    .addHelpText(
      'after',
      `
Example:
  enrich plan contacts.csv
  enrich run contacts.csv --plan HASH --yes      runs exactly the plan that was printed`,
    )
    .action(async (file: string, options: PlanOptions) => {
      const config = settingsOf(options, {
        MAX_CREDITS_PER_RUN: options.maxCredits,
        FRESHNESS: options.freshness,
        LATE_RESULTS_DEADLINE: options.lateDeadline,
      });
      tell(describeService(config));
      const order = await orderRun(file, options, config);
      await withSession(config, { temporal: false, service: false }, async (session) => {
        printPlan(await planExport(session, order), options.json === true);
      });
    });
}
