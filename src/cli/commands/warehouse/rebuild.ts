import { Command, jsonOption } from '../../terminal/command.ts';
import { counted } from '../../../domain/text/counted.ts';
import { Problem, UsageProblem, exitCodes } from '../../../domain/problem.ts';
import { readAnswersAgain, type ReadAgainFigures } from '../../../calls/answers/read-answers-again.ts';
import { rebuild, type RebuildFigures } from '../../../people/rebuild.ts';
import type { Warehouse } from '../../../db/database.ts';
import { readUnfinishedUndo } from '../../../runs/undo-run.ts';
import { withWarehouse, stopAfterBatch } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';
import { printFacts, progressReporter } from '../../terminal/output.ts';

export function rebuildCommand(): Command {
  return withSettings(new Command('rebuild'))
    .description('Compute people, companies and contacts anew from the stored answers.')
    .option(
      '--from-answers',
      'first read the stored answers and deliveries again, after a release that reads more fields',
    )
    .option('--check', 'only compare; exit code 1 where something differs, 3 beside an unfinished undo')
    .option(...jsonOption)
    .explain(`
--from-answers changes observations that this release reads differently. Observations without a stored body stay.
It runs beside workers, makes no call and costs nothing. Stop it at any time and run it again.

Examples:
  enrich rebuild --check
  enrich rebuild
  enrich rebuild --from-answers`)
    .action(async (options: { check?: boolean; fromAnswers?: boolean; json?: boolean }) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const check = options.check === true;
        const signal = stopAfterBatch();
        if (check && options.fromAnswers === true)
          throw new UsageProblem(
            'option.conflict',
            '--check only compares, but --from-answers changes observations',
            { where: 'enrich rebuild', next: 'use one of the two' },
          );
        if (check) await requireFinishedUndos(warehouse);
        const read = options.fromAnswers === true ? await readAnswersAgain(warehouse, signal) : undefined;
        const progress = progressReporter('people and contacts');
        const figures = await rebuild(warehouse, { check, signal, progress });
        const { differences, complete } = figures;
        if (check && differences > 0) await requireFinishedUndos(warehouse);
        const ofBodies = read && { bodies: read.bodies, observations_changed: read.changed };
        printFacts(
          options.json,
          { check, ...ofBodies, ...figures },
          [...(read ? [describeRead(read)] : []), ...describe(figures, check)].join('\n'),
        );
        if (!complete)
          throw new Problem('rebuild.interrupted', 'stopped before everything was computed', {
            where: 'enrich rebuild',
            next: 'run the same command again',
            exitCode: exitCodes.needsPerson,
          });
        if (check && differences > 0) process.exitCode = exitCodes.failed;
      });
    });
}

function describeRead({ bodies, changed }: ReadAgainFigures): string {
  return `${counted(bodies, 'stored body', 'stored bodies')} read: ${counted(changed, 'observation')} changed`;
}

function describe({ people, contacts, differing, differences }: RebuildFigures, check: boolean): string[] {
  const what = `${counted(people, 'person', 'people')} and ${counted(contacts, 'contact')}`;
  const correction = check || differences === 0 ? '' : ', corrected';
  return [
    `${what}: ${counted(differences, 'difference')}${correction}`,
    ...differing.map((key) => `  ${key}`),
  ];
}

/**
 * Refuses to compare beside an unfinished undo: people whom it has not reached yet differ from the log.
 *
 * @throws Problem `undo.unfinished`
 */
async function requireFinishedUndos(warehouse: Warehouse): Promise<void> {
  const unfinished = await readUnfinishedUndo(warehouse);
  if (unfinished === undefined) return;
  const { runId, reverts } = unfinished;
  throw new Problem(
    'undo.unfinished',
    `the ${reverts ? 'revert of the undo' : 'undo'} of run ${runId} is not finished: people whom it has not reached ` +
      'differ from the log',
    {
      where: 'enrich rebuild --check',
      next:
        `enrich undo ${runId}${reverts ? ' --revert' : ''} --yes completes it, or waits until the command in ` +
        'progress ends; then check again',
      exitCode: exitCodes.needsPerson,
    },
  );
}
