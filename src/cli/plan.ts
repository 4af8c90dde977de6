import { Command } from 'commander';
import { describeService } from './describe-service.ts';
import { tell } from './output.ts';
import { planExport, printPlan } from './plan-export.ts';
import { withRunOptions } from './run.ts';
import { addressOf, orderRun, type RunFlags } from './run-order.ts';
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
    .description('say what a run of this export would ask for, cost and take; spends nothing')
    .addHelpText(
      'after',
      `
Examples:
  enrich plan contacts.csv
  enrich plan --query "select id, email, first_name, last_name, company from crm.contacts where stage = 'lead' order by id"
  enrich run contacts.csv --plan HASH --yes      runs exactly the plan that was printed`,
    )
    .action(async (file: string | undefined, options: PlanOptions) => {
      const config = settingsOf(options, {
        MAX_CREDITS_PER_RUN: options.maxCredits,
        FRESHNESS: options.freshness,
        LATE_RESULTS_DEADLINE: options.lateDeadline,
      });
      tell(describeService(config));
      const order = await orderRun(addressOf(file, options), options, config);
      await withSession(config, { temporal: false, service: false }, async (session) => {
        printPlan(await planExport(session, order), options.json === true);
      });
    });
}
