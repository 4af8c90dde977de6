import type { ExtraNames } from '../late-results/delivery-kinds.ts';
import type { BudgetPolicy } from '../money/budget-periods.ts';
import type { Freshness } from './freshness.ts';
import type { RowFilter, RowOrder } from './row-choice.ts';

/** The options of a run, as stored in `runs.options`; `run-option-flags.ts` reads them from flags. */
export interface RunOptions {
  /** URL of the service, or `sandboxServiceName`. A run does not use answers of another service. */
  readonly service: string;
  /** Who named the service: the `command`, so that no other service's worker calls, or the `workers`. */
  readonly serviceOf: 'command' | 'workers';
  readonly source: string | null;
  readonly schedule: string | null;
  /** Content of the mapping file; null if there is none. */
  readonly mapping: Readonly<Record<string, unknown>> | null;
  readonly maxCredits: string | null;
  readonly reveal: ExtraNames<'reveal'>;
  readonly waterfall: ExtraNames<'waterfall'>;
  /** Maximum credits per person as decimal text; required for a waterfall, which has no fixed price. */
  readonly maxCreditsPerPerson: string | null;
  /** Seconds for which the run waits for late results after an answer. */
  readonly lateDeadlineSeconds: number;
  readonly freshness: Freshness;
  /** Priority of the run's calls, in the order of `runPriorities` in `src/contract`. */
  readonly priority: 'ad-hoc' | 'nightly' | 'backfill';
  /** What the run does if a budget is exhausted; null: the default of the budget (`exhaustionPolicyOf`). */
  readonly onBudget: BudgetPolicy | null;
  /** With `retry`, the run makes one more call for people of a call with unknown cost, and may pay for both calls. */
  readonly onUnknown: 'hold' | 'retry';
  /** Number of people in the first calls. The quality gates then decide whether the run continues. Null: no pilot. */
  readonly pilot: number | null;
  /** Match rate, from 0 to 1, below which the run pauses; null: no limit. */
  readonly minMatchRate: number | null;
  /** Expectations of the export, as `parseExpectations` reads them; null: the export may have any form. */
  readonly expectations: string | null;
  /** Conditions on the rows that the run makes calls for; empty: all rows. */
  readonly only: readonly RowFilter[];
  /** Order of the calls; null: the order of the file. */
  readonly orderBy: RowOrder | null;
}

/**
 * What an option of a run decides.
 *
 * - `people`: for which people and fields the run makes calls.
 * - `manner`: price, order and priority. Another value begins another run, and finds the file enriched before.
 * - `waiting`: the time for late results. Another value continues the same run.
 * - `gate`: when the run pauses or ends early. A repeated command changes it in the run that it continues.
 * - `start`: how the run began. Another value continues the same run.
 */
type Decides = 'people' | 'manner' | 'waiting' | 'gate' | 'start';

/**
 * Where the value of an option comes from.
 *
 * - `flag`: a flag of commands and of schedules.
 * - `flag or setting`: a flag; without it, the command's own setting, or in runs of schedules the workers' setting.
 * - `flag of commands`: a flag of commands only; runs of schedules have null.
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

/** Names of the options that decide one of these things. */
export function optionNamesDeciding(...kinds: readonly Decides[]): (keyof RunOptions)[] {
  return names.filter((name) => kinds.includes(facts[name].decides));
}

export function pickOptions(options: RunOptions, picked: readonly (keyof RunOptions)[]): Partial<RunOptions> {
  return Object.fromEntries(picked.map((name) => [name, options[name]]));
}

/** Names of the options that one of these sources sets. */
export function optionNamesSetBy<By extends SetBy>(...kinds: readonly By[]): NamesSetBy<By>[] {
  const wanted: readonly SetBy[] = kinds;
  return names.filter((name): name is NamesSetBy<By> => wanted.includes(facts[name].setBy));
}

/** Options from the flags of a command. Null in an option that has a setting means that the setting applies. */
export type FlagOptions = Pick<RunOptions, NamesSetBy<'flag' | 'flag of commands'>> & {
  readonly [Name in NamesSetBy<'flag or setting'>]: RunOptions[Name] | null;
};

/** Options of a schedule. Null in an option that has a setting means that the workers' setting applies. */
export type ScheduledOptions = Omit<FlagOptions, NamesSetBy<'flag of commands'>>;

/** Options from the settings of a process: its service, and all options that have a setting. */
export type RunDefaults = Pick<RunOptions, 'service' | 'serviceOf' | NamesSetBy<'flag or setting'>>;

/** Returns the options of a run: values of flags, or else the defaults. A missing flag without a default gives null. */
export function withDefaults(
  chosen: ScheduledOptions & Partial<FlagOptions>,
  defaults: RunDefaults,
): Omit<RunOptions, 'schedule' | 'priority'> {
  const fallback: Partial<RunOptions> = defaults;
  const options = optionNamesSetBy('flag', 'flag or setting', 'flag of commands').map((name) => [
    name,
    chosen[name] ?? fallback[name] ?? null,
  ]);
  return { ...defaults, ...(Object.fromEntries(options) as Omit<RunOptions, 'schedule' | 'priority'>) };
}

/** Name of the service if calls go to the sandbox that commands start. */
export const sandboxServiceName = 'sandbox';

/** Describes the service of a run for the operator, who must not take the sandbox's invented people for real people. */
export function describeServiceOfRun(service: string): string {
  return service === sandboxServiceName ? 'the sandbox (invented people, no cost)' : service;
}
