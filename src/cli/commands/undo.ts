import { Command, jsonOption, noteOf, type AskingFlags, type NoteFlags } from '../terminal/command.ts';
import { counted, nounFor } from '../../domain/text/format.ts';
import { Problem, UsageProblem, exitCodes } from '../../domain/problem.ts';
import { countLookups } from '../../people/known/lookup-history.ts';
import type { RunFacts } from '../../contract/run-facts.ts';
import { statusText } from '../../contract/run-statuses.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import { discardAnswers, type DiscardedAnswers } from '../../privacy/discard-answers.ts';
import { measureUndo, revertUndo, undoRun, type UndoFigures } from '../../runs/undo-run.ts';
import { approves } from '../terminal/confirm.ts';
import { describeUndone } from '../run/describe-run.ts';
import { anyRun } from '../run/run-status.ts';
import { progressReporter, print, printJson, table, tell } from '../terminal/output.ts';
import { withWarehouse, type Session, stopAfterBatch } from '../session/session.ts';
import { settingsOfExisting } from '../session/command-settings.ts';

interface UndoFlags extends NoteFlags, AskingFlags {
  readonly revert?: boolean;
  readonly discardAnswers?: boolean;
}

const nothing: UndoFigures = { removed: 0, restored: 0, only_emails: 0, only_phones: 0 };

export function undoCommand(): Command {
  return new Command('undo')
    .description('Undo what a run wrote: contacts are as if it had never run.')
    .argument('<run>', anyRun)
    .option('--revert', 'revert an earlier undo of the run')
    .option('--discard-answers', 'also remove what its answers said: the next run asks and pays again')
    .keepNote('kept with the run; no names')
    .option('--yes', 'do it without asking')
    .option(...jsonOption)
    .explain(`
Contacts from only this run are removed. Other contacts keep the values from other runs. The run must have ended.
Its answers stay stored. Its late results are stored and paid for, and change no contact.

Settled credits are not refunded, and the people are not paid for again: a run of the same people, such as under the
right source, uses the stored answers without calls. --discard-answers removes the stored answers as well: the next run
asks and pays again, and the undo cannot be reverted.

Examples:
  enrich undo latest
  enrich undo enrich-hubspot-day2-20261122T0007-32f8a1 --yes --reason "the export of another system"
  enrich undo enrich-hubspot-day2-20261122T0007-32f8a1 --revert --yes`)
    .action(async (runId: string, options: UndoFlags) => {
      await withWarehouse(settingsOfExisting(), (session) => undo(session, runId, options));
    });
}

async function undo(session: Session, name: string, options: UndoFlags): Promise<void> {
  const { warehouse } = session;
  const run = await getRun(warehouse, name);
  requireEnded(run);
  requireAnswers(run, options);
  const reverts = options.revert === true;
  const show = options.json === true ? () => {} : print;
  const facts = await readRunFacts(warehouse, run.runId);
  const lookups = await countLookups(warehouse.database, run.runId);
  const isDone = (run.undone === null) === reverts && !run.undoUnfinished;
  const figures = isDone ? nothing : await measureUndo(warehouse, run.runId);
  const answer = (undone: boolean, changed: UndoFigures, discarded?: DiscardedAnswers): void => {
    if (options.json !== true) return;
    const counts = {
      lookup_keys: lookups,
      lookup_keys_removed: discarded?.lookupKeys ?? 0,
      observations_discarded: discarded?.observations ?? 0,
      credits: facts.credits,
    };
    const { removed: onlyHere } = changed;
    const own = reverts ? { removed: 0, returned: onlyHere } : { removed: onlyHere, returned: 0 };
    printJson<'undo'>({ run_id: run.runId, undone, ...changed, ...own, ...counts });
  };

  show(`run ${run.runId}: ${run.status} (${run.source ?? 'no source'}, ${run.fileName})`);
  if (run.undone && !reverts) show(`  ${describeUndone(run.undone)}`);
  const discards = options.discardAnswers === true && !run.isDiscarded;
  if (isDone && !discards) {
    show(`  the run is ${reverts ? 'not undone' : 'undone already'}: nothing was changed`);
    return answer(!reverts, figures);
  }
  if (options.yes !== true) {
    show(describe(figures, discards ? lookups : undefined));
    if (!reverts && figures.removed > 0)
      show('  a removed contact that other runs show to be a known person gets the data of this person');
    if (discards) tell('what the answers of the run said is removed, and the undo cannot be reverted');
    if (!reverts) sayWhatStays(facts, run.options.schedule);
    const question = reverts ? 'revert the undo of this run?' : 'undo this run?';
    if (!(await approves(question, options, 'nothing was changed')))
      return answer(run.undone !== null, figures);
  }
  if (!isDone) await carryOut(session, run.runId, options);
  const discarded = discards ? await discardAnswers(warehouse, run.runId) : undefined;
  // An undo decides about contacts again: other runs may know who they are.
  const changed = isDone ? figures : await measureUndo(warehouse, run.runId);
  show(describe(changed, discarded?.lookupKeys));
  show(reverts ? '  the undo was reverted' : '  undone');
  answer(!reverts, changed, discarded);
  if (options.yes === true && !reverts) sayWhatStays(facts, run.options.schedule);
}

/** @throws Problem `undo.interrupted` */
async function carryOut({ warehouse }: Session, runId: string, options: UndoFlags): Promise<void> {
  const signal = stopAfterBatch();
  const progress = progressReporter('entries of the log');
  const { complete } =
    options.revert === true
      ? await revertUndo(warehouse, runId, signal, progress)
      : await undoRun(warehouse, runId, noteOf(options), signal, progress);
  if (complete) return;
  throw new Problem('undo.interrupted', 'stopped before all contacts were computed anew', {
    where: runId,
    next: 'run the same command again: it completes the undo',
    exitCode: exitCodes.needsPerson,
  });
}

/** @throws Problem if the run has not ended */
function requireEnded(run: RunRecord): void {
  if (run.finishedAt !== null) return;
  throw new UsageProblem('run.not-ended', `run ${run.runId} has not ended: it is ${statusText(run.status)}`, {
    where: run.runId,
    next: `enrich cancel ${run.runId}, then undo the run; or wait until it has ended`,
  });
}

/** @throws Problem if the answers are to be discarded and to come back */
function requireAnswers(
  { runId, isDiscarded }: RunRecord,
  { revert, discardAnswers: discards }: UndoFlags,
): void {
  if (revert !== true || (!isDiscarded && discards !== true)) return;
  throw new UsageProblem('undo.answers-discarded', 'discarded answers cannot come back', {
    where: `--revert of ${runId}`,
    next: isDiscarded
      ? 'enrich the file again: the service is asked for its people again, and paid'
      : 'leave out --discard-answers',
  });
}

/** An undo removes what only this run knows, and a revert brings it back. */
function describe(figures: UndoFigures, removedKeys?: number): string {
  return table([
    ["contacts of the run's people, in all exports", ''],
    ['known from this run alone', figures.removed],
    ['known from other runs as well', figures.restored],
    figures.only_emails > 0 && ['  of these, emails known from this run alone', figures.only_emails],
    figures.only_phones > 0 && ['  of these, phones known from this run alone', figures.only_phones],
    removedKeys !== undefined && ['keys of the lookup history', removedKeys],
  ]);
}

/** @param schedule the schedule that began the run. Only Temporal knows whether it is active, and undo needs none. */
function sayWhatStays({ credits: { settled }, late_results: late }: RunFacts, schedule: string | null): void {
  const callsAwaited = late.awaited + late.expired;
  tell(`${counted(settled, 'settled credit')} ${nounFor(settled, 'is', 'are')} not refunded`);
  if (callsAwaited > 0)
    tell(
      `late results of ${counted(callsAwaited, 'call')} may still come: they are stored and paid for, and ` +
        'change no contact',
    );
  if (schedule !== null)
    tell(
      `the schedule ${schedule} began this run. If the schedule is active and has no --every-new, it takes its ` +
        'export again at its next time: correct the schedule, or pause it in the Temporal UI',
    );
}
