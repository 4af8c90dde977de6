import type { Setting } from '../../config/settings-schema.ts';
import { checkedSource } from '../../ingest/columns/mapping-file.ts';
import { formatFreshness, parseFreshness } from '../../domain/runs/freshness.ts';
import {
  formatRowFilters,
  formatRowOrder,
  parseRowFilters,
  parseRowOrder,
} from '../../domain/runs/row-choice.ts';
import type { ChosenOptions, ScheduledOptions } from '../../domain/runs/run-options.ts';
import { formatDuration, parseDuration } from '../../domain/text/duration.ts';
import { formatPercent } from '../../domain/text/format-percent.ts';
import { wholeNumber } from '../terminal/command.ts';
import { readMapping } from '../run/mapping-proposal.ts';
import {
  ceilingOf,
  costPerEmailOf,
  creditsOf,
  expectationsOf,
  extrasOf,
  minMatchRateOf,
  withoutPeople,
} from './run-option-values.ts';

/** Headings of `--help` above the flags of a run. */
export const flagHeadings = {
  export: 'Export:',
  data: 'Data to ask for:',
  credits: 'Credits:',
} as const;

export type FlagOptions = ChosenOptions & ScheduledOptions;

/** The values of a flag on the command line: none without the flag, several for a repeated flag. */
export type Texts = readonly string[];

interface OptionFlag<Value> {
  readonly flag: string;
  readonly group: keyof typeof flagHeadings;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly repeatable?: boolean;
  /** @throws InvalidArgumentError that commander shows with the flag */
  readonly parse?: (text: string) => unknown;
  readonly setting?: Setting;
  /**
   * Reads the option, or its default.
   *
   * @param textsOf the texts of another flag that the option depends on
   * @throws Problem
   */
  readonly read: (texts: Texts, textsOf: (name: keyof FlagOptions) => Texts) => Value | Promise<Value>;
  /** Formats the option as its flag takes it; null: not shown. Default: the value as text. */
  readonly show?: (value: NonNullable<Value>) => string | null;
}

/**
 * The flags of a run's options, in the order of `--help`. Commands, plans, schedules and schedule files read this
 * table. An option of `src/domain/runs/run-options.ts` that a flag sets needs an entry here.
 */
export const optionFlags: { readonly [Name in keyof FlagOptions]: OptionFlag<FlagOptions[Name]> } = {
  source: {
    flag: '--source <name>',
    group: 'export',
    description: 'name of the CRM in the warehouse (default: recognised from the header)',
    read: ([name]) => (name === undefined ? null : checkedSource(name)),
  },
  mapping: {
    flag: '--mapping <file>',
    group: 'export',
    description: 'JSON or YAML file that assigns columns',
    read: ([file]) => (file === undefined ? null : readMapping(file)),
    show: (mapping) => JSON.stringify(mapping),
  },
  maxCredits: {
    flag: '--max-credits <n>',
    group: 'credits',
    description:
      'maximum credits per run; 0 makes no call and fills contacts of known people (MAX_CREDITS_PER_RUN)',
    setting: 'MAX_CREDITS_PER_RUN',
    read: ([number]) =>
      number === undefined ? null : creditsOf('--max-credits', number, 'write a number such as 500 or 12.5'),
  },
  onBudget: {
    flag: '--on-budget <what>',
    group: 'credits',
    description:
      'what the run does when a budget is exhausted: finish, with the remaining rows over budget, or pause until ' +
      'the budget is raised or its next period begins (default: finish for --max-credits and in schedules; pause ' +
      'for other budgets)',
    choices: ['finish', 'pause'],
    read: ([policy]) => (policy === 'finish' || policy === 'pause' ? policy : null),
  },
  minMatchRate: {
    flag: '--min-match-rate <share>',
    group: 'credits',
    description: 'match rate below which the run pauses, such as 40%: of the pilot and of the latest calls',
    read: ([share]) => (share === undefined ? null : minMatchRateOf(share)),
    show: (rate) => formatPercent(rate).replace(/(?:\.0)? %/, '%'),
  },
  expectations: {
    flag: '--expect <rules>',
    group: 'export',
    description:
      'rules for the export; if it breaks one, the run pauses before it spends: none, usual, or rules such as ' +
      'rows=50%..200%,coverage=70%,malformed=5%,mapping=same,empty=no (default: none; usual in a schedule)',
    read: ([rules]) => (rules === undefined ? null : expectationsOf(rules)),
  },
  only: {
    flag: '--only <choice>',
    group: 'export',
    description: 'rows to ask for: COLUMN=VALUE or "COLUMN in VALUE,VALUE"; repeatable',
    repeatable: true,
    read: (choices) => parseRowFilters(withoutPeople(choices)),
    show: (only) => formatRowFilters(only).join('; ') || null,
  },
  orderBy: {
    flag: '--order-by <column>',
    group: 'export',
    description:
      'column that orders the people to ask for: lowest value first, or with COLUMN desc highest value first',
    read: ([column]) => (column === undefined ? null : parseRowOrder(column)),
    show: formatRowOrder,
  },
  onUnknown: {
    flag: '--on-unknown <what>',
    group: 'credits',
    description:
      'what happens to the people of a call whose answer is lost: hold until you decide, or retry once at the price ' +
      'of both calls (default: hold)',
    choices: ['hold', 'retry'],
    read: ([what]) => (what === 'retry' ? 'retry' : 'hold'),
    show: (what) => (what === 'retry' ? what : null),
  },
  freshness: {
    flag: '--freshness <durations>',
    group: 'data',
    description:
      'time until a person is asked for again, such as 90d or enriched=90d,phone=180d,not_found=30d (FRESHNESS)',
    setting: 'FRESHNESS',
    read: ([durations]) => (durations === undefined ? null : parseFreshness(durations)),
    show: formatFreshness,
  },
  reveal: {
    flag: '--reveal <what>',
    group: 'data',
    description: 'fields to ask for beside profiles: phone, email (personal addresses), or phone,email',
    repeatable: true,
    read: (fields) => extrasOf('reveal', fields),
    show: (fields) => fields.join(',') || null,
  },
  waterfall: {
    flag: '--waterfall <what>',
    group: 'data',
    description: 'fields to ask further vendors for: phone, email, or phone,email',
    repeatable: true,
    read: (fields) => extrasOf('waterfall', fields),
    show: (fields) => fields.join(',') || null,
  },
  maxCreditsPerPerson: {
    flag: '--max-credits-per-person <n>',
    group: 'credits',
    description: 'maximum credits per person; required with --waterfall',
    read: ([credits], textsOf) => ceilingOf(credits, textsOf('waterfall').length > 0),
  },
  lateDeadlineSeconds: {
    flag: '--late-deadline <duration>',
    group: 'data',
    description: 'time to wait for phones and waterfall results (LATE_RESULTS_DEADLINE, default 24h)',
    setting: 'LATE_RESULTS_DEADLINE',
    read: ([duration]) => (duration === undefined ? null : parseDuration(duration, '--late-deadline')),
    show: formatDuration,
  },
  pilot: {
    flag: '--pilot <n>',
    group: 'credits',
    description: 'people to ask for first, a sample of all kinds of rows; the run then shows their results',
    parse: wholeNumber(1, 100_000),
    read: ([people]) => (people === undefined ? null : Number(people)),
  },
  maxCostPerEmail: {
    flag: '--max-cost-per-email <n>',
    group: 'credits',
    description: 'credits per email above which the run pauses after its pilot',
    read: ([credits], textsOf) => costPerEmailOf(credits, textsOf('pilot').length > 0),
  },
};
