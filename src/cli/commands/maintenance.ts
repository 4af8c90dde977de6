import { allowAnalyst } from '../../db/migrate.ts';
import { exitCodes, Problem, UsageProblem } from '../../domain/problem.ts';
import { retainedKinds } from '../../domain/runs/retention.ts';
import { formatNumber } from '../../domain/text/format.ts';
import { formatDuration } from '../../domain/text/duration.ts';
import { rebuild } from '../../people/rebuild.ts';
import { measurePrune, prune, type PruneFigures } from '../../privacy/prune.ts';
import { stopAfterBatch, withWarehouse, readSettings } from '../session/session.ts';
import { Command, type CommonFlags } from '../terminal/command.ts';
import { previewThenChange } from '../terminal/confirm.ts';
import {
  formatRecords,
  print,
  printFacts,
  printJson,
  progressReporter,
  printProgress,
} from '../terminal/output.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Bring the warehouse tables up to this release. Every command does so at its start.')
    .option('--analyst-role <role>', 'existing role that may read contacts, outcomes, calls and credits')
    .json()
    .examples(`
  DATABASE_URL=postgres://… enrich migrate
  DATABASE_URL=postgres://… enrich migrate --analyst-role metabase`)
    .explain(`
Migrations only add, so they can run beside workers of this release and the previous one. They wait up to a minute for
users of the tables. An analyst role cannot read bodies, rows of exports and tokens, and cannot write; later
migrations update its rights.`)
    .action(async ({ analystRole: role, json }: { analystRole?: string } & CommonFlags) => {
      await withWarehouse(readSettings(), async ({ stack, migrated: { done, newer } }) => {
        if (role !== undefined) await allowAnalyst(stack.databaseUrl, role);
        if (done.length === 0) printProgress('the warehouse is up to date');
        printFacts(json, { migrations: done, newer, analyst_role: role ?? null });
      });
    });
}

export function rebuildCommand(): Command {
  return new Command('rebuild')
    .description('Compute people, companies and contacts anew from the stored answers.')
    .option('--check', 'only compare; exit code 1 where something differs, 3 beside an unfinished undo')
    .json()
    .quiet()
    .examples(`
  enrich rebuild --check
  enrich rebuild`)
    .explain(`
It runs beside workers, makes no call and costs nothing. Stop it at any time and run it again.`)
    .onWarehouse(async ({ warehouse }, { check = false, json }: CommonFlags & { check?: boolean }) => {
      const signal = stopAfterBatch();
      const figures = await rebuild(warehouse, {
        check,
        signal,
        progress: progressReporter('people and contacts'),
      });
      printFacts(json, { check, ...figures });
      if (!figures.complete)
        throw new Problem('rebuild.interrupted', 'stopped before everything was computed', {
          where: 'enrich rebuild',
          next: 'run the same command again',
          exitCode: exitCodes.needsOperator,
        });
      if (check && figures.differences > 0) process.exitCode = exitCodes.failed;
    });
}

export function pruneCommand(): Command {
  return new Command('prune')
    .description(
      'Remove bodies of answers and deliveries, rows, replaced observations and changes older than RETENTION.',
    )
    .option('--yes', 'remove without asking')
    .json()
    .examples(`
  RETENTION=answers=90d,deliveries=90d,rows=365d enrich prune --yes`)
    .explain(`
RETENTION names how long each is kept: answers, deliveries, quarantine, staging, rows, observations, changes
(docs/guides/retention.md). Calls, credits, the number of rows by outcome, contacts and the lookup history are never
removed. Data that an open call or delivery needs stays. Run it beside workers, and stop it at any time.`)
    .onWarehouse(async ({ warehouse, config: { retention } }, options: CommonFlags) => {
      if (Object.keys(retention).length === 0)
        throw new UsageProblem('setting.missing', 'no retention is set', {
          where: 'RETENTION',
          next: 'set for example answers=90d,deliveries=90d,staging=30d; what is not named is kept forever',
        });
      const show = (figures: PruneFigures, removed: boolean): void => {
        if (options.json === true) return printJson({ removed, retention, ...figures });
        const kinds = retainedKinds.filter((kind) => retention[kind] !== undefined);
        const rows = kinds.map((kind) => ({
          what: kind,
          kept_for: formatDuration(retention[kind]!),
          [removed ? 'removed' : 'would be removed']: Object.entries(figures[kind])
            .map(([unit, amount]) => `${formatNumber(amount)} ${unit}`)
            .join(', '),
        }));
        print(formatRecords(rows));
        if (figures.held.length > 0)
          print(`data of these runs is still needed:\n${formatRecords(figures.held)}`);
      };
      await previewThenChange(options, {
        measure: () => measurePrune(warehouse, retention),
        change: () => prune(warehouse, retention, stopAfterBatch()),
        show,
        question: 'remove them?',
        unchanged: 'nothing was removed',
      });
    });
}
