import type { Command } from 'commander';
import { enrichingCommand } from './run.ts';

/** `enrich backfill FILE` */
export function backfillCommand(): Command {
  return enrichingCommand('backfill', 'backfill')
    .description('enrich a large export beside everything else: as run does, and its calls go last')
    .addHelpText(
      'after',
      `
For the export that takes hours or days: the first load of a CRM, or everybody once more with phones. Whenever a run of
"enrich run" or of a schedule has a call to make, that call goes first; the backfill takes the places that are left. They
share the call limit and the budgets of the day and the month: give the backfill a budget of its own with --max-credits,
and the nightly run keeps the rest. Whoever is asked for by one of them is not asked for by the other.

An interrupted backfill goes on where it stopped: the same command again, or enrich resume RUN. To leave it to workers on
a server, and to end the command without ending the run, set TEMPORAL_ADDRESS.
To repeat the nights that a schedule has missed: enrich schedule backfill NAME.

Examples:
  enrich plan everybody.csv                     what it would cost, and for how many days it would call
  enrich backfill everybody.csv --yes --max-credits 20000

Exit codes: 0 done, 1 failed, 2 usage, 3 finished or paused with something that needs a person.`,
    );
}
