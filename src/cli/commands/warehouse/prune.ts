import { Command, jsonOption } from '../../terminal/command.ts';
import { counted } from '../../../domain/text/counted.ts';
import { formatDuration } from '../../../domain/text/duration.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { retained, type Retained } from '../../../domain/runs/retention.ts';
import { measurePrune, prune, type PruneFigures } from '../../../privacy/prune.ts';
import { print, printJson, table, tell } from '../../terminal/output.ts';
import { withWarehouse, stopAfterBatch } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

export function pruneCommand(): Command {
  return withSettings(new Command('prune'))
    .description(
      'Remove bodies of answers and deliveries, rows, replaced observations and changes older than RETENTION.',
    )
    .option('--retention <times>', 'time to keep each (RETENTION), such as answers=90d,staging=30d')
    .option('--yes', 'remove; otherwise only show what would be removed')
    .option(...jsonOption)
    .explain(`
answers: bodies of the service's answers.
deliveries: bodies of webhooks and polls with effect.
quarantine: bodies of orphaned and quarantined deliveries, which can be replayed until then; at least 30d.
staging: personal data in the rows of ended runs.
rows: rows of ended runs with all that staging removes; at least 30d. The run keeps its number of rows by outcome.
observations: replaced observations; the newest of each value stays.
changes: entries of the change feed; a reader with an older cursor must read all contacts again.
Calls, credits, the number of rows by outcome, contacts and the lookup history are never removed. Data that an open
call or delivery needs stays. The command runs beside workers and can be stopped at any time.
With RETENTION set, workers do this every night, by the Temporal schedule enrichment-retention.

Example:
  enrich prune --retention answers=90d,deliveries=90d,quarantine=365d,staging=30d,rows=365d,changes=90d --yes`)
    .action(async (options: { retention?: string; yes?: boolean; json?: boolean }) => {
      const config = settingsOfExisting(options, {
        RETENTION: { flag: '--retention', text: options.retention },
      });
      const { retention } = config;
      if (Object.keys(retention).length === 0) {
        throw new UsageProblem('setting.missing', 'no retention is set', {
          where: 'RETENTION or --retention',
          next:
            'write for example answers=90d,deliveries=90d,quarantine=365d,staging=30d,rows=365d; what is not named ' +
            'is kept forever',
        });
      }
      const removed = options.yes === true;
      const figures = await withWarehouse(config, ({ warehouse }) =>
        removed ? prune(warehouse, retention, stopAfterBatch()) : measurePrune(warehouse, retention),
      );
      if (options.json === true) return printJson({ removed, retention, ...figures });
      print(
        table([
          ['what', 'kept for', removed ? 'removed' : 'would be removed', 'still needed'],
          ...retained.flatMap((kind) => {
            const seconds = retention[kind];
            return seconds === undefined
              ? [[kind, 'forever', '', '']]
              : [[kind, formatDuration(seconds), ...amountsOf[kind](figures)]];
          }),
        ]),
      );
      for (const run of figures.held.slice(0, shownRuns)) tell(describeHeld(run));
      if (figures.held.length > shownRuns)
        tell(`and ${counted(figures.held.length - shownRuns, 'more run')}: --json has all`);
      tell(
        removed
          ? 'the database reuses the space; its files shrink only after VACUUM FULL'
          : 'nothing was removed; repeat the command with --yes to remove',
      );
    });
}

const shownRuns = 10;

/** Why the data of a run is still needed, and the command that shows more. */
function describeHeld(run: PruneFigures['held'][number]): string {
  const of = (count: number, noun: string, more: string, many?: string): string[] =>
    count === 0 ? [] : [`${counted(count, noun, many)}${more}`];
  const reasons = [
    ...(run.has_ended ? [] : ['it has not ended (enrich status)']),
    ...of(run.unknown_calls, 'call', ` of unknown cost (enrich attempts list ${run.run_id})`),
    ...of(run.awaiting_calls, 'call', ` that await${run.awaiting_calls === 1 ? 's' : ''} late results`),
    ...of(
      run.unread_deliveries,
      'unread delivery',
      ` (enrich inbox list ${run.run_id})`,
      'unread deliveries',
    ),
    ...(run.waits_for === null ? [] : [`its rows outdate cells of run ${run.waits_for}`]),
  ];
  return `still needed of run ${run.run_id}: ${reasons.join('; ')}`;
}

/** What is older than its retention, and what of it is still needed. */
const amountsOf: Readonly<Record<Retained, (figures: PruneFigures) => [older: string, needed: string]>> = {
  answers: ({ answers, kept }) => [sizeOf(answers), countedBodies(kept.answers)],
  deliveries: ({ deliveries, kept }) => [sizeOf(deliveries), countedBodies(kept.deliveries)],
  quarantine: ({ quarantine, kept }) => [sizeOf(quarantine), countedBodies(kept.quarantine)],
  staging: ({ staging, kept }) => [countedRows(staging), counted(kept.runs, 'run')],
  rows: ({ rows, kept }) => [countedRows(rows), counted(kept.rows, 'run')],
  observations: ({ observations }) => [counted(observations.count, 'observation'), ''],
  changes: ({ changes }) => [counted(changes.count, 'change'), ''],
};

function sizeOf({ count, bytes }: PruneFigures['answers']): string {
  return `${countedBodies(count)}, ${(bytes / 1_000_000).toFixed(1)} MB`;
}

function countedBodies(count: number): string {
  return counted(count, 'body', 'bodies');
}

function countedRows({ rows, runs }: PruneFigures['rows']): string {
  return `${counted(rows, 'row')} of ${counted(runs, 'run')}`;
}
