import { Command, Option, toNote, type CommonFlags } from '../terminal/command.ts';
import { formatCount } from '../../domain/text/format.ts';
import { Problem, UsageProblem, exitCodes } from '../../domain/problem.ts';
import { statusText } from '../../contract/run-transitions.ts';
import { readRunFacts } from '../../runs/read-run-facts.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import {
  discardAnswers,
  measureUndo,
  revertUndo,
  undoRun,
  type DiscardedAnswers,
} from '../../runs/undo-run.ts';
import { confirmUnlessYes } from '../terminal/confirm.ts';
import { runArgumentHelp, describeUndo } from '../run/run-status.ts';
import { progressReporter, printFacts, formatTable, printProgress, printNotice } from '../terminal/output.ts';
import { type Session, stopAfterBatch } from '../session/session.ts';

interface UndoFlags extends CommonFlags {
  readonly revert?: boolean;
  readonly discardAnswers?: boolean;
}

export function undoCommand(): Command {
  return new Command('undo')
    .description('Take the contact records of a run back. What was paid for stays known.')
    .argument('<run>', runArgumentHelp)
    .addOption(new Option('--revert', 'revert an earlier undo of the run').conflicts('discardAnswers'))
    .option('--discard-answers', 'also remove what its answers said: a rerun pays again; cannot be reverted')
    .keepNote('kept with the run; no names')
    .option('--yes', 'do it without asking')
    .json()
    .quiet()
    .examples(`
  enrich undo latest
  enrich undo 32f8a1 --yes --reason "export of another system"
  enrich undo 32f8a1 --revert --yes`)
    .explain(`
Contacts that only the export of this run has lose their data. Contacts that other exports have stay, with the person
that these exports show. The people stay known: the same file under its right source gets their data without calls. With
--discard-answers, the next run asks and pays again. The run must have ended, and settled credits are not refunded
(docs/guides/undo.md).`)
    .onWarehouse(undo);
}

/** Shows what an undo or its revert changes, asks, and makes the change. Repeating it completes an interrupted one. */
async function undo({ warehouse }: Session, name: string, options: UndoFlags): Promise<void> {
  const run = await getRun(warehouse, name);
  const { runId } = run;
  requireUndoable(run, options);
  const { revert = false, json = false } = options;
  const discards = options.discardAnswers === true && !run.isDiscarded;
  const facts = await readRunFacts(warehouse, runId);
  // True if the run is already in the wanted state: undone, or with `--revert` not undone.
  const isDone = (run.undone === null) === revert;
  const { removed, restored } = isDone ? { removed: 0, restored: 0 } : await measureUndo(warehouse, runId);
  const answer = (text: string, undone: boolean, discarded?: DiscardedAnswers): void =>
    printFacts<'undo'>(
      json,
      {
        run_id: runId,
        undone,
        removed: revert ? 0 : removed,
        returned: revert ? removed : 0,
        restored,
        observations_discarded: discarded?.observations ?? 0,
        lookup_keys_removed: discarded?.lookupKeys ?? 0,
        credits: facts.credits,
      },
      text,
    );
  if (isDone && !discards) {
    const state = run.undone ? `undone already: ${describeUndo(run.undone)}` : 'not undone';
    return answer(`the run is ${state}; nothing was changed`, !revert);
  }
  const say = options.yes === true ? printProgress : printNotice;
  const effect = revert ? 'get their data back' : 'lose their data';
  say(`run ${runId}\n  export: ${run.fileName} (${run.source ?? 'no source'})`);
  if (!isDone)
    say(
      formatTable([
        ['contacts with data of this run', removed + restored],
        [`  ${effect}: no other export has them`, removed],
        ['  stay: other exports have them too', restored],
        !revert && ['credits, which are not refunded', facts.credits.settled],
      ]),
    );
  if (discards)
    say(
      'what only the answers of this run said is removed, also from contacts that stay; a rerun pays for its ' +
        'people again',
    );
  const undoQuestion = isDone ? 'remove what the answers of this run said?' : 'undo this run?';
  const question = revert ? 'revert the undo of this run?' : undoQuestion;
  if (!(await confirmUnlessYes(question, options, 'nothing was changed')))
    return answer(run.undone ? 'the run stays undone' : 'the run is not undone', run.undone !== null);
  const signal = stopAfterBatch();
  const progress = progressReporter('contacts and people');
  const change = revert
    ? () => revertUndo(warehouse, runId, signal, progress)
    : () => undoRun(warehouse, runId, toNote(options), signal, progress);
  if (!isDone && !(await change()).complete)
    throw new Problem('undo.interrupted', 'stopped before all contacts were decided about', {
      where: runId,
      next: 'run the same command again, or any run: it completes the undo',
      exitCode: exitCodes.needsOperator,
    });
  const discarded = discards ? await discardAnswers(warehouse, runId, signal) : undefined;
  const contacts = formatCount(removed, 'contact');
  const ended = revert
    ? `the undo was reverted: ${contacts} got their data back`
    : `undone: ${contacts} lost their data`;
  const done = [
    ...(isDone ? [] : [`${ended}; ${restored} in other exports stayed`]),
    ...(discarded ? [`removed ${formatCount(discarded.observations, 'observation')} of its answers`] : []),
  ];
  answer(done.join('\n'), !revert, discarded);
}

/** Refuses a run that has not ended, and the revert of an undo that discarded the answers. */
function requireUndoable({ runId, status, finishedAt, isDiscarded }: RunRecord, { revert }: UndoFlags): void {
  if (finishedAt === null)
    throw new UsageProblem('run.not-ended', `run ${runId} has not ended: it is ${statusText(status)}`, {
      where: runId,
      next: `enrich cancel ${runId}, then undo the run; or wait until it has ended`,
    });
  if (revert === true && isDiscarded)
    throw new UsageProblem('undo.answers-discarded', 'discarded answers cannot come back', {
      where: `--revert of ${runId}`,
      next: 'enrich the file again: the service is asked for its people again, and paid',
    });
}
