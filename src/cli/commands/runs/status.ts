import { Command, wholeNumber, type JsonFlag } from '../../terminal/command.ts';
import { describeAskedService, sandbox } from '../../../domain/runs/asked-service.ts';
import { counted } from '../../../domain/text/counted.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import type { Config } from '../../../config/settings.ts';
import type { RunFacts } from '../../../contract/run-facts.ts';
import { readContestedRows, readLostContacts } from '../../../report/figures.ts';
import { readRunFacts } from '../../../runs/read-run-facts.ts';
import { listRuns } from '../../../runs/runs.ts';
import { describeContestedRows, describeLostContacts } from '../../run/describe/describe-row-notes.ts';
import { describeRun } from '../../run/describe/describe-run.ts';
import { anyRun } from '../../run/steer/run-to-steer.ts';
import { print, printFacts, printJson, table, tell } from '../../terminal/output.ts';
import {
  describeCallWait,
  describePreempted,
  findInterrupted,
  interrupted,
  isCommandPresent,
  withPresentReason,
} from '../../run/describe/present-status.ts';
import { describeUiAddress } from '../../run/describe/describe-ui-address.ts';
import { withSession, type Session } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

export function statusCommand(): Command {
  return withSettings(new Command('status'))
    .description('Show the status and figures of a run, or list the newest runs.')
    .argument('[run]', anyRun)
    .option('--json', 'result as one JSON object; without a run, as one JSON array')
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 10_000), 20)
    .explain('\nExamples:\n  enrich status\n  enrich status latest --json')
    .action(async (runId: string | undefined, options: JsonFlag & { limit: number }) => {
      const config = settingsOfExisting(options);
      // The command prints a link to a UI that runs already, and starts no server for it.
      const needs = { temporal: runId !== undefined && hasUi(config), service: false };
      await withSession(config, needs, async (session) => {
        if (runId === undefined) await showRuns(session, options);
        else await showRun(session, runId, options, needs.temporal);
      });
    });
}

/** Hints are for a person: with --json they go to standard error. */
function hinter({ json }: JsonFlag): (line: string) => void {
  return json === true ? tell : print;
}

async function showRun(
  session: Session,
  runId: string,
  flags: JsonFlag,
  showsUiAddress: boolean,
): Promise<void> {
  const { warehouse } = session;
  const hint = hinter(flags);
  const facts = await factsOf(session, runId);
  const { reasons, lines } = await findInterrupted(session, [facts]);
  const reason = reasons.get(facts.run_id);
  // The stored reason says that the run continues when its budget has credits.
  const shown = reason && facts.status === 'paused' ? { ...facts, reason: null } : facts;
  printFacts<'run'>(
    flags.json,
    { ...facts, ...reason },
    describeRun(shown, reason ? interrupted : facts.status),
  );
  lines.forEach(hint);
  const contested = await readContestedRows(warehouse.database, facts.run_id);
  describeContestedRows(facts, contested).forEach(hint);
  describeLostContacts(facts, await readLostContacts(warehouse.database, facts.run_id)).forEach(hint);
  (await describeCallWait(session, facts)).forEach(hint);
  (await describePreempted(session, facts)).forEach(hint);
  const uiAddress = showsUiAddress ? await describeUiAddress(session, facts.run_id) : undefined;
  if (uiAddress !== undefined) hint(`  ${uiAddress}`);
}

async function showRuns(session: Session, flags: JsonFlag & { limit: number }): Promise<void> {
  const hint = hinter(flags);
  const runs = await listRuns(session.warehouse, flags.limit);
  const facts = await Promise.all(runs.map((run) => factsOf(session, run.runId)));
  const { reasons, lines } = await findInterrupted(session, facts);
  const statusOf = ({ run_id, status }: RunFacts): string => (reasons.has(run_id) ? interrupted : status);
  if (flags.json === true)
    printJson<'run-list'>(facts.map((run) => ({ ...run, ...reasons.get(run.run_id) })));
  else if (facts.length === 0) print('no runs yet: enrich run FILE begins one');
  else
    print(
      table([
        ['run', 'status', 'rows', 'calls', 'credits', 'file'],
        ...facts.map((run) => [
          run.run_id,
          run.undone ? `${run.status}, undone` : statusOf(run),
          run.rows,
          run.calls,
          formatNumber(run.credits.settled),
          run.file,
        ]),
      ]),
    );
  lines.forEach(hint);
  const ofSandbox = facts.filter(({ service }) => service === sandbox).length;
  if (ofSandbox > 0) hint(`  ${counted(ofSandbox, 'run')} asked ${describeAskedService(sandbox)}`);
}

async function factsOf(session: Session, runId: string): Promise<RunFacts> {
  return withPresentReason(session, await readRunFacts(session.warehouse, runId));
}

function hasUi(config: Config): boolean {
  return config.temporalAddress === undefined ? isCommandPresent(config) : config.temporalUiUrl !== undefined;
}
