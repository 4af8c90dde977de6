import { formatNumber } from '../../domain/text/format.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { listRuns } from '../../runs/runs.ts';
import { anyRun, correctedFacts, describeUiAddress, printRun, readRunView } from '../run/run-status.ts';
import { withWarehouse, type Session, settingsOfExisting } from '../session/session.ts';
import { Command, wholeNumber, type JsonFlag } from '../terminal/command.ts';
import { listTable, print, printJson, tell } from '../terminal/output.ts';

export function statusCommand(): Command {
  return new Command('status')
    .description('Show the status and figures of a run, or list the newest runs.')
    .argument('[run]', anyRun)
    .option('--json', 'result as one JSON object; without a run, as one JSON array')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 10_000), 20)
    .explain('\nExamples:\n  enrich status\n  enrich status latest --json')
    .action(async (runId: string | undefined, options: JsonFlag & { limit: number }) => {
      const config = settingsOfExisting();
      await withWarehouse(config, async (session) => {
        if (runId === undefined) return showRuns(session, options);
        const view = await readRunView(session, await readRunFacts(session.warehouse, runId));
        printRun(view, options.json === true);
        if (config.temporalAddress === undefined) return;
        const uiAddress = describeUiAddress(session, view.facts.run_id);
        if (uiAddress !== undefined) (options.json === true ? tell : print)(`  ${uiAddress}`);
      });
    });
}

async function showRuns(session: Session, flags: JsonFlag & { limit: number }): Promise<void> {
  const { warehouse } = session;
  const views = [];
  for (const { runId } of await listRuns(warehouse, flags.limit))
    views.push(await correctedFacts(session, await readRunFacts(warehouse, runId)));
  const isJson = flags.json === true;
  if (isJson) printJson<'run-list'>(views.map(({ facts }) => facts));
  else if (views.length === 0) print('no runs yet: enrich run FILE begins one');
  else
    print(
      listTable(
        views.map(({ facts, status }) => ({
          run: facts.run_id,
          status: facts.undone ? `${status}, undone` : status,
          rows: facts.rows,
          calls: facts.calls,
          credits: formatNumber(facts.credits.settled),
          file: facts.file,
        })),
      ),
    );
  const hint = isJson ? tell : print;
  for (const { facts, status } of views)
    if (status !== facts.status && facts.reason !== null)
      hint(`  ${facts.run_id}: ${facts.reason}\n  next: ${facts.next ?? ''}`);
}
