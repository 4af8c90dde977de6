import type { RunPriority } from '../contract.ts';
import type { ExtraNames } from '../domain/late-results/delivery-kinds.ts';
import type { BudgetPolicy } from '../domain/money/budget-policy.ts';
import type { Freshness } from '../domain/runs/freshness.ts';
import type { RowFilter, RowOrder } from '../domain/runs/row-choice.ts';

/** What a run was asked to do, beside the file. The column `runs.options`. */
export interface RunOptions {
  /** Address of the service, or `sandbox`: answers of another service do not count. */
  readonly service: string;
  /**
   * `workers`: the run began on a Temporal server, whose workers may have another service.
   * `command`: the service is that of the command, and no worker of another service sends a call.
   */
  readonly serviceOf: 'command' | 'workers';
  readonly source: string | null;
  /** The schedule that began the run, or null. */
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
  readonly priority: RunPriority;
  /** What the run does when a budget is empty; null: the default of the budget (`policyOf`). */
  readonly onBudget: BudgetPolicy | null;
  /** `retry`: people whose call is unknown are asked for once more, at the price of both calls. */
  readonly onUnknown: 'hold' | 'retry';
  /** Number of people who are asked for first; the quality gates then decide whether the run continues. */
  readonly pilot: number | null;
  /** Share from 0 to 1 below which a run stops. */
  readonly minMatchRate: number | null;
  /** Decimal text: a pilot whose emails cost more stops its run. */
  readonly maxCostPerEmail: string | null;
  /** What `parseExpectations` reads; null: the export may have any form. */
  readonly expectations: string | null;
  /** Rows that are asked for; empty: all. */
  readonly only: readonly RowFilter[];
  /** Who is asked first; null: the order of the file. */
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

const decisions: Readonly<Record<keyof RunOptions, Decides>> = {
  service: 'people',
  source: 'people',
  mapping: 'people',
  reveal: 'people',
  waterfall: 'people',
  only: 'people',
  maxCredits: 'manner',
  maxCreditsPerPerson: 'manner',
  freshness: 'manner',
  priority: 'manner',
  onUnknown: 'manner',
  orderBy: 'manner',
  lateDeadlineSeconds: 'waiting',
  onBudget: 'gate',
  minMatchRate: 'gate',
  maxCostPerEmail: 'gate',
  expectations: 'gate',
  pilot: 'start',
  serviceOf: 'start',
  schedule: 'start',
};

/** The names of the options that decide one of these. */
export function optionsThatDecide(...kinds: readonly Decides[]): (keyof RunOptions)[] {
  return (Object.keys(decisions) as (keyof RunOptions)[]).filter((name) => kinds.includes(decisions[name]));
}

/** The options that only commands have, as the runs of a schedule have them. */
export const withoutCommandOptions = { pilot: null, maxCostPerEmail: null } as const;

/** Options that a command or a schedule chooses, beside those that have a setting. */
export type ChosenOptions = Omit<
  RunOptions,
  | 'service'
  | 'serviceOf'
  | 'schedule'
  | 'maxCredits'
  | 'freshness'
  | 'lateDeadlineSeconds'
  | 'priority'
  | keyof typeof withoutCommandOptions
>;
