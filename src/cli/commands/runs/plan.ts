import { Command } from '../../terminal/command.ts';
import { describeService } from '../../run/describe/describe-service.ts';
import { printFacts, tell } from '../../terminal/output.ts';
import { ProposalWritten } from '../../run/mapping-proposal.ts';
import { planExport, printPlan } from '../../run/plan-export.ts';
import { settingsOfRun, withCommandFlags, type CommandFlags } from '../../run-options/command-flags.ts';
import { addressOf, specifyRun } from '../../run/run-spec.ts';
import { isCredentialMissing, withWarehouse } from '../../session/session.ts';
import { withSettings } from '../../session/settings-flags.ts';

export function planCommand(): Command {
  return withCommandFlags(withSettings(new Command('plan')))
    .description('Show the people, price and duration of a run of this export. Spends nothing.')
    .explain(`
Examples:
  enrich plan contacts.csv
  enrich plan --query "select id, email, first_name, last_name from crm.contacts where stage = 'lead' order by id"
  enrich run contacts.csv --plan HASH --yes      runs only the printed plan`)
    .action(async (file: string | undefined, options: CommandFlags) => {
      const config = settingsOfRun(options);
      tell(describeService(config));
      if (isCredentialMissing(config))
        tell(
          'note: enrich run refuses this plan: neither ENRICHMENT_API_KEY nor ENRICHMENT_ACCESS_TOKEN is set',
        );
      const spec = await specifyRun(addressOf(file, options), options, config).catch((error: unknown) => {
        if (!(error instanceof ProposalWritten)) throw error;
        const { message, mappingFile, next } = error;
        printFacts(options.json, { mapping_file: mappingFile, next }, `${message}\nnext: ${next}`);
      });
      if (!spec) return;
      await withWarehouse(config, async (session) => {
        printPlan(await planExport(session, spec), options.json === true);
      });
    });
}
