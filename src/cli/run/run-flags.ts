import { Option, type Command } from 'commander';
import type { Config } from '../../config/settings.ts';
import type { BudgetPolicy } from '../../domain/money/budget-policy.ts';
import { wholeNumber } from '../terminal/number-flag.ts';
import { settingsOf } from '../session/settings-flags.ts';

/** Flags that say what a run asks for, and of which columns. */
export interface OptionFlags {
  readonly source?: string | undefined;
  readonly mapping?: string | undefined;
  readonly reveal?: string | undefined;
  readonly waterfall?: string | undefined;
  readonly maxCreditsPerPerson?: string | undefined;
  readonly onBudget?: BudgetPolicy | undefined;
  readonly onUnknown?: 'hold' | 'retry' | undefined;
  readonly minMatchRate?: string | undefined;
  readonly expect?: string | undefined;
  readonly only?: readonly string[] | undefined;
  readonly orderBy?: string | undefined;
}

/** Flags of `run`, `backfill` and `plan`; other commands that read an export have some of them. */
export interface RunFlags extends OptionFlags {
  readonly maxCredits?: string;
  readonly freshness?: string;
  readonly lateDeadline?: string;
  readonly plan?: string;
  readonly fromTable?: string;
  readonly query?: string;
  readonly pilot?: number;
  readonly maxCostPerEmail?: string;
  readonly writeMapping?: string;
  readonly json?: boolean;
}

/** The export and the options that `run`, `backfill` and `plan` share. */
export function withRunOptions(command: Command): Command {
  return withOptionFlags(command)
    .argument(
      '[file]',
      'CSV export of a CRM (plain or gzip): a file, https://…, s3://bucket/key, or - for standard input',
    )
    .option('--from-table <name>', 'table of the warehouse instead of a file, such as crm.contacts')
    .option('--query <sql>', 'SELECT on the warehouse instead of a file; it cannot write')
    .option('--write-mapping <file>', 'new file for the recognised or proposed mapping of columns')
    .option(
      '--pilot <n>',
      'people to ask for first, a sample of all kinds of rows; the run then shows their results',
      wholeNumber(1, 100_000),
    )
    .option('--max-cost-per-email <n>', 'credits per email above which the run pauses after its pilot')
    .addOption(new Option('--plan <hash>', 'hash of the only plan that may run (enrich plan prints it)'))
    .option('--json', 'one JSON object on the last line of standard output; progress on standard error');
}

/** Options that say what is asked for and what it may cost: those of runs, and of schedules that begin runs. */
export function withOptionFlags(command: Command): Command {
  return command
    .option('--source <name>', 'name of the CRM in the warehouse (default: recognised from the header)')
    .option('--mapping <file>', 'JSON or YAML file that assigns columns')
    .option('--max-credits <n>', 'maximum credits per run (MAX_CREDITS_PER_RUN)')
    .addOption(
      new Option(
        '--on-budget <what>',
        'when a budget is empty: finish, with the rest over budget, or pause until the budget is raised or its ' +
          'next period begins (default: finish for --max-credits and in schedules; pause for other budgets)',
      ).choices(['finish', 'pause']),
    )
    .option(
      '--min-match-rate <share>',
      'match rate below which the run pauses, such as 40%: of the pilot and of the latest calls',
    )
    .option(
      '--expect <rules>',
      'what the export must be like, or the run pauses before it spends: none, usual, or rules such as ' +
        'rows=50%..200%,coverage=70%,malformed=5%,mapping=same,empty=no (default: none; usual in a schedule)',
    )
    .option(
      '--only <choice>',
      'rows to ask for: COLUMN=VALUE or "COLUMN in VALUE,VALUE"; repeatable',
      (choice: string, before: readonly string[] | undefined) => [...(before ?? []), choice],
    )
    .option(
      '--order-by <column>',
      'column that orders the people to ask for, lowest value first; with desc: highest',
    )
    .addOption(
      new Option(
        '--on-unknown <what>',
        'people of a call whose answer is lost: hold until you decide, or retry once at the price of both calls ' +
          '(default: hold)',
      ).choices(['hold', 'retry']),
    )
    .option(
      '--freshness <clocks>',
      'time until a person is asked for again, such as 90d or enriched=90d,phone=180d,not_found=30d (FRESHNESS)',
    )
    .option(
      '--reveal <what>',
      'fields to ask for beside profiles: phone, email (personal addresses), or phone,email',
    )
    .option('--waterfall <what>', 'fields to ask further vendors for: phone, email, or phone,email')
    .option('--max-credits-per-person <n>', 'maximum credits per person; required with --waterfall')
    .option(
      '--late-deadline <duration>',
      'time to wait for phones and waterfall results (LATE_RESULTS_DEADLINE, default 24h)',
    );
}

/** The settings of a command with the flags of `withRunOptions`, which go before the environment. */
export function settingsOfRun(flags: RunFlags): Config {
  return settingsOf(flags, {
    MAX_CREDITS_PER_RUN: flags.maxCredits,
    FRESHNESS: flags.freshness,
    LATE_RESULTS_DEADLINE: flags.lateDeadline,
  });
}
