import { formatNumber } from '../../domain/text/format.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { listRuns } from '../../runs/runs.ts';
import { anyRun, correctedFacts, describeUiAddress, printRun, readRunView } from '../run/run-status.ts';
import { onWarehouse, type Session } from '../session/session.ts';
import { Command, wholeNumber, type Flags } from '../terminal/command.ts';
import { listTable, print, printFacts, tell } from '../terminal/output.ts';

export function statusCommand(): Command {
  return new Command('status')
    .description('Show the status and figures of a run, or list the newest runs.')
    .argument('[run]', anyRun)
    .option('--json', 'result as one JSON object; without a run, as one JSON array')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 10_000), 20)
    .explain('\nExamples:\n  enrich status\n  enrich status latest --json')
    .action(
      onWarehouse(async (session, runId: string | undefined, options: Flags & { limit: number }) => {
        if (runId === undefined) return showRuns(session, options);
        const view = await readRunView(session, await readRunFacts(session.warehouse, runId));
        printRun(view, options.json === true);
        if (session.config.temporalAddress === undefined) return;
        const uiAddress = describeUiAddress(session, view.facts.run_id);
        if (uiAddress !== undefined) (options.json === true ? tell : print)(`  ${uiAddress}`);
      }),
    );
}

async function showRuns(session: Session, { json, limit }: Flags & { limit: number }): Promise<void> {
  const { warehouse } = session;
  const views = [];
  for (const { runId } of await listRuns(warehouse, limit))
    views.push(await correctedFacts(session, await readRunFacts(warehouse, runId)));
  const rows = views.map(({ facts, status }) => ({
    run: facts.run_id,
    status: facts.undone ? `${status}, undone` : status,
    rows: facts.rows,
    calls: facts.calls,
    credits: formatNumber(facts.credits.settled),
    file: facts.file,
  }));
  const list = listTable(rows, undefined, 'no runs yet: enrich run FILE begins one');
  printFacts<'run-list'>(
    json,
    views.map(({ facts }) => facts),
    list,
  );
  const hint = json === true ? tell : print;
  for (const { facts, status } of views)
    if (status !== facts.status && facts.reason !== null)
      hint(`  ${facts.run_id}: ${facts.reason}\n  next: ${facts.next ?? ''}`);
}
