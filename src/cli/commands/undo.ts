import { userInfo } from 'node:os';
import { Command } from 'commander';
import { counted, nounFor } from '../../domain/text/counted.ts';
import { Problem, exitCodes } from '../../domain/problem.ts';
import { countLookups, forgetAsked } from '../../people/lookup-history.ts';
import { readRunFacts } from '../../runs/run-facts.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { measureUndo, undo, undoneRunsLeft, type UndoFigures } from '../../runs/undo-run.ts';
import { agrees } from '../terminal/confirm.ts';
import { describeUndone } from '../run/describe-run.ts';
import { lookedAtRun } from '../run/latest-run.ts';
import { print, printJson, table, tell } from '../terminal/output.ts';
import { withWarehouse, type Session } from '../session/session.ts';
import { settingsOf, withSettings } from '../session/settings-flags.ts';
import { stopAfterBatch } from '../session/stop-signal.ts';

interface UndoFlags {
  readonly forget?: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `enrich undo RUN` */
export function undoCommand(): Command {
  return withSettings(new Command('undo'))
    .description('take back what a run wrote: contacts and phones are again what they were before it')
    .argument('<run>', lookedAtRun)
    .option(
      '--forget',
      'also forget that its people were asked for: the next run asks and pays for them again',
    )
    .option('--reason <text>', 'why: kept with the run, so name nobody in it')
    .option('--by <name>', 'who decided it (default: the user of this machine)')
    .option('--yes', 'do it; without it, it is shown what would be done, and asked')
    .option('--json', 'as a JSON object')
    .addHelpText(
      'after',
      `
Contacts that the run created are removed, and those that it changed get their former values. Contacts that another run has
written since are left alone, and it is said by which runs: undo those first, the newest first, and then this one again.
The run has to have ended. Results of it that come later are stored and paid for, and change no contact.

What was paid is not given back, and it stays remembered who was asked: a run of the same people leaves them out as fresh, costs
nothing, and writes nothing. To enrich them after all, such as with the right mapping, use --forget, now or later: the next
run asks for them, and pays, again.

Exit code 3: done, and some contacts were left alone.

Examples:
  enrich undo latest
  enrich undo run-20261121-090000-0b54c1 --yes --reason "the export of another system"
  enrich undo run-20261121-090000-0b54c1 --forget --yes`,
    )
    .action(async (runId: string, options: UndoFlags) => {
      await withWarehouse(settingsOf(options), (session) => undoRun(session, runId, options));
    });
}

async function undoRun(session: Session, name: string, options: UndoFlags): Promise<void> {
  const { warehouse } = session;
  const run = await getRun(warehouse, name);
  requireUndoable(run);
  const show = options.json === true ? () => {} : print;
  const facts = await readRunFacts(warehouse, run.runId);
  const remembered = await countLookups(warehouse.database, run.runId);
  // Of a run that was undone long ago, what was left alone is not kept any more: but its people can still be forgotten.
  const found = run.journal === 'kept' ? await measureUndo(warehouse, run.runId) : nothing;
  const answer = (undone: boolean, figures: UndoFigures, forgotten: number): void => {
    if (options.json !== true) return;
    const { removed, restored, withheld, leftAlone, leftAloneBy } = figures;
    const contacts = { removed, restored, withheld, left_alone: leftAlone, left_alone_by: leftAloneBy };
    printJson({ run_id: run.runId, undone, ...contacts, remembered, forgotten, credits: facts.credits });
  };

  show(`run ${run.runId}: ${run.status} (${run.source ?? 'no source'}, ${run.fileName})`);
  if (run.undone) show(`  ${describeUndone(run.undone)}`);
  const forgets = options.forget === true && remembered > 0;
  if (run.undone && found.removed + found.restored === 0 && !forgets) {
    if (found.leftAlone > 0) show(describe(found, 'found'));
    else show('  it is undone already: nothing is left to take back');
    answer(true, found, 0);
    return sayWhatIsLeft(run.runId, found);
  }

  if (options.yes !== true) {
    show(describe(found, 'would be', forgets ? remembered : undefined));
    sayWhatStays(facts.credits.settled, facts.late_results.awaited + facts.late_results.expired);
    if (options.json === true || (await agrees('undo this run?')) !== true) {
      answer(run.undone !== null, found, 0);
      return tell('nothing was changed; with --yes it is');
    }
  }
  const note = { by: options.by ?? userInfo().username, reason: options.reason };
  const done =
    run.journal === 'kept'
      ? await undo(warehouse, run.runId, note, stopAfterBatch(), sayingProgress())
      : { ...nothing, complete: true };
  if (!done.complete) {
    throw new Problem('undo.interrupted', 'stopped before all contacts were taken back', {
      where: run.runId,
      next: 'give the same command again: it does the rest',
      exitCode: exitCodes.needsPerson,
    });
  }
  const forgotten = forgets ? await forgetAsked(warehouse, run.runId) : 0;
  show(describe(done, 'done', forgets ? forgotten : undefined));
  answer(true, done, forgotten);
  if (options.yes === true)
    sayWhatStays(facts.credits.settled, facts.late_results.awaited + facts.late_results.expired);
  if (options.forget !== true && remembered > 0)
    tell(
      `its people count as asked still: a run of them finds them fresh and writes nothing; enrich undo ${run.runId} --forget lets the next run ask and pay for them again`,
    );
  for (const other of await undoneRunsLeft(warehouse, run.runId))
    tell(
      `run ${other} is undone, and contacts of it were left alone: enrich undo ${other} looks at them again`,
    );
  sayWhatIsLeft(run.runId, done);
}

/** @throws Problem where the run goes on, or what was before it is not known */
function requireUndoable(run: RunRecord): void {
  if (run.finishedAt === null) {
    throw new Problem(
      'run.not-ended',
      `run ${run.runId} has not ended: it is ${run.status.replaceAll('_', ' ')}`,
      {
        where: run.runId,
        next: `enrich cancel ${run.runId}, and then undo it; or wait for its end`,
        exitCode: exitCodes.usage,
      },
    );
  }
  if (run.journal === 'none') {
    throw new Problem(
      'undo.not-kept',
      'what contacts were before this run was not kept: it began under an older release',
      {
        where: run.runId,
        next: `nothing was changed; enrich export --run ${run.runId} lists the contacts that it was the last to write`,
      },
    );
  }
  if (run.journal === 'pruned' && !run.undone) {
    throw new Problem('undo.pruned', 'what contacts were before this run is not kept any more', {
      where: run.runId,
      next: 'nothing was changed; RETENTION (undo) says for how long it is kept',
    });
  }
}

function describe(figures: UndoFigures, heading: string, forgotten?: number): string {
  return table([
    ['contacts', heading],
    ['created by it: removed', figures.removed],
    ['changed by it: restored to what they were', figures.restored],
    ...(figures.withheld > 0
      ? [['changed by it, and formerly of somebody on the suppression list: removed', figures.withheld]]
      : []),
    ['written by other runs since: left alone', figures.leftAlone],
    ...byRun(figures).map(([runId, contacts]): [string, number] => [`  by ${runId}`, contacts]),
    ...(forgotten === undefined
      ? []
      : [['names by which it was remembered that they were asked for: forgotten', forgotten]]),
  ]);
}

/** The newest first: that is the order to undo them in. Ids sort by time. */
function byRun({ leftAloneBy }: UndoFigures): [string, number][] {
  return Object.entries(leftAloneBy).sort(([one], [other]) => (one < other ? 1 : -1));
}

function sayWhatStays(settled: string, callsAwaited: number): void {
  tell(`${counted(settled, 'credit')} that it settled ${nounFor(settled, 'is', 'are')} not given back`);
  if (callsAwaited > 0)
    tell(
      `late results of ${counted(callsAwaited, 'call')} may still come: they are stored and paid for, and change no contact`,
    );
}

function sayWhatIsLeft(runId: string, figures: UndoFigures): void {
  if (figures.leftAlone === 0) return;
  process.exitCode = exitCodes.needsPerson;
  tell(
    `${counted(figures.leftAlone, 'contact')} ${nounFor(figures.leftAlone, 'was', 'were')} written since: undo ${byRun(
      figures,
    )
      .map(([other]) => other)
      .join(', ')} first, and then ${runId} again, if they are to go as well`,
  );
}

const nothing: UndoFigures = { removed: 0, restored: 0, withheld: 0, leftAlone: 0, leftAloneBy: {} };
const progressMilliseconds = 10_000;

/** A million contacts take minutes. */
function sayingProgress(): (contacts: number) => void {
  let told = Date.now();
  return (contacts) => {
    if (Date.now() - told < progressMilliseconds) return;
    told = Date.now();
    tell(`${contacts} contacts so far`);
  };
}
