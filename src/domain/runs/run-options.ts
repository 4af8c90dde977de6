import type { ExtraNames } from '../late-results/delivery-kinds.ts';
import type { BudgetPolicy } from '../money/budget-periods.ts';
import type { Freshness } from './freshness.ts';
import type { RowFilter, RowOrder } from './row-choice.ts';

/**
 * The options of a run, in the column `runs.options`. `src/cli/run/run-option-flags.ts` reads their flags.
 */
export interface RunOptions {
  /** Address of the service, or `sandbox`: answers of another service do not count. */
  readonly service: string;
  /**
   * `command`: the service is that of the command, and no worker of another service sends a call.
   * `workers`: the command named no service, and the run is for that of the workers.
   */
  readonly serviceOf: 'command' | 'workers';
  readonly source: string | null;
  readonly schedule: string | null;
  /** Content of the mapping file, or null. */
  readonly mapping: Readonly<Record<string, unknown>> | null;
  readonly maxCredits: string | null;
  readonly reveal: ExtraNames<'reveal'>;
  readonly waterfall: ExtraNames<'waterfall'>;
  /** Decimal text; set with a waterfall, whose prices the service does not fix. */
  readonly maxCreditsPerPerson: string | null;
  /** How long the run waits for late results after an answer. */
  readonly lateDeadlineSeconds: number;
  readonly freshness: Freshness;
  /** Calls of a higher priority go first: `runPriorities` of the contract. */
  readonly priority: 'ad-hoc' | 'nightly' | 'backfill';
  /** What the run does when a budget is empty; null: the default of the budget (`policyOf`). */
  readonly onBudget: BudgetPolicy | null;
  /** `retry`: people whose call is unknown are asked for once more, at the price of both calls. */
  readonly onUnknown: 'hold' | 'retry';
  /** Number of people who are asked for first; the quality gates then decide whether the run continues. */
  readonly pilot: number | null;
  /** Match rate, from 0 to 1, below which the run pauses. */
  readonly minMatchRate: number | null;
  /** What `parseExpectations` reads; null: the export may have any form. */
  readonly expectations: string | null;
  /** Rows that are asked for; empty: all. */
  readonly only: readonly RowFilter[];
  /** Order of the people to ask for; null: the order of the file. */
  readonly orderBy: RowOrder | null;
}

/**
 * What an option decides.
 * - `people`: whom the run asks for, and for which fields.
 * - `manner`: price, order and priority. Another value begins another run, and finds the file enriched before.
 * - `waiting`: the time for late results. Another value continues the same run.
 * - `gate`: when the run pauses or ends early. A repeated command changes it in the run that it continues.
 * - `start`: how the run began. Another value continues the same run.
 */
type Decides = 'people' | 'manner' | 'waiting' | 'gate' | 'start';

/**
 * Who sets an option.
 * - `flag`: a flag of commands and of schedules.
 * - `flag or setting`: the same; without the flag a command has its own setting, and a schedule the workers' setting.
 * - `flag of commands`: runs of schedules have null.
 * - `product`: no flag sets it.
 */
type SetBy = 'flag' | 'flag or setting' | 'flag of commands' | 'product';

interface OptionFacts {
  readonly decides: Decides;
  readonly setBy: SetBy;
}

const facts = {
  service: { decides: 'people', setBy: 'product' },
  source: { decides: 'people', setBy: 'flag' },
  mapping: { decides: 'people', setBy: 'flag' },
  reveal: { decides: 'people', setBy: 'flag' },
  waterfall: { decides: 'people', setBy: 'flag' },
  only: { decides: 'people', setBy: 'flag' },
  maxCredits: { decides: 'manner', setBy: 'flag or setting' },
  maxCreditsPerPerson: { decides: 'manner', setBy: 'flag' },
  freshness: { decides: 'manner', setBy: 'flag or setting' },
  priority: { decides: 'manner', setBy: 'product' },
  onUnknown: { decides: 'manner', setBy: 'flag' },
  orderBy: { decides: 'manner', setBy: 'flag' },
  lateDeadlineSeconds: { decides: 'waiting', setBy: 'flag or setting' },
  onBudget: { decides: 'gate', setBy: 'flag' },
  minMatchRate: { decides: 'gate', setBy: 'flag' },
  expectations: { decides: 'gate', setBy: 'flag' },
  pilot: { decides: 'start', setBy: 'flag of commands' },
  serviceOf: { decides: 'start', setBy: 'product' },
  schedule: { decides: 'start', setBy: 'product' },
} as const satisfies Readonly<Record<keyof RunOptions, OptionFacts>>;

const names = Object.keys(facts) as readonly (keyof RunOptions)[];

type NamesSetBy<By extends SetBy> = {
  [Name in keyof RunOptions]: (typeof facts)[Name]['setBy'] extends By ? Name : never;
}[keyof RunOptions];

export function optionsThatDecide(...kinds: readonly Decides[]): (keyof RunOptions)[] {
  return names.filter((name) => kinds.includes(facts[name].decides));
}

export function pickOptions(options: RunOptions, picked: readonly (keyof RunOptions)[]): Partial<RunOptions> {
  return Object.fromEntries(picked.map((name) => [name, options[name]]));
}

export function optionsSetBy<By extends SetBy>(...kinds: readonly By[]): NamesSetBy<By>[] {
  const wanted: readonly SetBy[] = kinds;
  return names.filter((name): name is NamesSetBy<By> => wanted.includes(facts[name].setBy));
}

/** Options from the flags of a command. Null in an option that has a setting: the setting applies. */
export type FlagOptions = Pick<RunOptions, NamesSetBy<'flag' | 'flag of commands'>> & {
  readonly [Name in NamesSetBy<'flag or setting'>]: RunOptions[Name] | null;
};

/** Options of a schedule. Null in an option that has a setting: the workers' setting applies. */
export type ScheduledOptions = Omit<FlagOptions, NamesSetBy<'flag of commands'>>;

/** Options from the settings of a process: its service, and the options that have a setting. */
export type RunDefaults = Pick<RunOptions, 'service' | 'serviceOf' | NamesSetBy<'flag or setting'>>;

/** The options of a run: those of its flags, otherwise the defaults. Without a flag of commands, its option is null. */
export function withDefaults(
  chosen: ScheduledOptions & Partial<FlagOptions>,
  defaults: RunDefaults,
): Omit<RunOptions, 'schedule' | 'priority'> {
  const fallback: Partial<RunOptions> = defaults;
  const options = optionsSetBy('flag', 'flag or setting', 'flag of commands').map((name) => [
    name,
    chosen[name] ?? fallback[name] ?? null,
  ]);
  return { ...defaults, ...(Object.fromEntries(options) as Omit<RunOptions, 'schedule' | 'priority'>) };
}

/** The service name of the sandbox that commands start. */
export const sandbox = 'sandbox';

/** Names the service of a run for a person, who must not take the sandbox's invented people for real ones. */
export function describeAskedService(service: string): string {
  return service === sandbox ? 'the sandbox (invented people, no cost)' : service;
}
