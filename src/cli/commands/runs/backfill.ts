import type { Command } from '../../terminal/command.ts';
import { enrichingCommand, exitCodesOfRuns } from './run.ts';

export function backfillCommand(): Command {
  return enrichingCommand('backfill', 'backfill').description(
    'Enrich a large export; calls of every other run go first.',
  ).explain(`
For an export that takes hours or days: the first load of a CRM, or all people again with phones. Calls of
"enrich run" and of schedules have priority; the backfill uses the remaining slots. All runs share the rate limit and
the period budgets: limit the backfill with --max-credits, so that the nightly run keeps the rest.
Two runs never ask for one person at the same time.

An interrupted backfill continues where it stopped: run the same command again, or enrich resume RUN. To run it on
workers of a server, and to end the command without ending the run, set TEMPORAL_ADDRESS.
To run the missed times of a schedule: enrich schedule backfill NAME.

Examples:
  enrich plan everybody.csv                     price and duration; spends nothing
  enrich backfill everybody.csv --yes --max-credits 20000

${exitCodesOfRuns}`);
}
