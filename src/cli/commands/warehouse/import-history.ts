import { Command, jsonOption, type JsonFlag } from '../../terminal/command.ts';
import { counted, nounFor } from '../../../domain/text/counted.ts';
import { parseMoment } from '../../../domain/text/moment.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { importLookups } from '../../../people/known/lookup-history.ts';
import { describeService } from '../../run/describe/describe-service.ts';
import { printFacts, tell } from '../../terminal/output.ts';
import { withStagedExport } from '../../run/plan-export.ts';
import { collect } from '../../run-options/read-run-options.ts';
import type { CommandFlags } from '../../run-options/command-flags.ts';
import { addressOf, specifyRun } from '../../run/run-spec.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';

export function importHistoryCommand(): Command {
  return withSettings(new Command('import-history'))
    .description('Record that the people of an export were asked for, after a restore has lost calls.')
    .argument('<file>', 'export that was enriched at that time')
    .requiredOption('--asked-at <time>', 'time of the calls, such as 2026-11-20T02:00:00Z')
    .option('--source <name>', 'as for enrich run')
    .option('--mapping <file>', 'as for enrich run')
    .option('--reveal <fields>', 'fields that were asked for beside profiles: email, phone', collect)
    .option('--waterfall <fields>', 'fields that further vendors were asked for: email, phone', collect)
    .option('--max-credits-per-person <n>', 'as for enrich run, with --waterfall')
    .option(...jsonOption)
    .explain(`
Runs then leave these people out as fresh until FRESHNESS has passed since that time. People without data in the
warehouse count as not found. The command makes no call. docs/production.md describes when to use it.

Example:
  enrich import-history /exports/contacts-2026-11-20.csv --asked-at 2026-11-20T02:00:00Z`)
    .action(async (file: string, options: CommandFlags & JsonFlag & { readonly askedAt: string }) => {
      const askedAt = timeOf(options.askedAt);
      const config = settingsOf(options);
      tell(describeService(config));
      const spec = await specifyRun(addressOf(file, options), options, config);
      const rows = await withWarehouse(config, (session) =>
        withStagedExport(session, spec, (runId) =>
          importLookups(session.warehouse, runId, askedAt, spec.options),
        ),
      );
      printFacts(
        options.json,
        { rows, asked_at: askedAt.toISOString() },
        `${counted(rows, 'row')}: ${nounFor(rows, 'its', 'their')} people count as asked for at ` +
          askedAt.toISOString(),
      );
    });
}

/** @throws Problem `setting.invalid` if the text is no time, or a time in the future */
function timeOf(text: string): Date {
  const time = parseMoment(text);
  if (time && time.getTime() <= Date.now()) return time;
  throw new UsageProblem('setting.invalid', `"${text}" is no time in the past`, {
    where: '--asked-at',
    next: 'write a time with its zone, such as 2026-11-20T02:00:00Z',
  });
}
