/** Calls and credits of the sandbox since its log began. */
export interface Bill {
  /** Calls that rate windows count. */
  readonly calls: number;
  readonly refused: number;
  readonly people: number;
  /** Late results included. */
  readonly credits: string;
  readonly latePeople: number;
  /** Billed with late results. */
  readonly lateCredits: string;
  /** People billed more than once, with the number of times; for calls and for late results. */
  readonly billedAgain: Readonly<Record<string, number>>;
  readonly lateBilledAgain: Readonly<Record<string, number>>;
  /** The first call with kept details, which `billedAgain` and the log cover. 1 is everything. */
  readonly detailsFrom: number;
  /**
   * Free calls that no window counts, by status and path: health, profile, users, usage, and calls that the
   * credential does not allow.
   */
  readonly otherCalls: Readonly<Record<string, number>>;
}

/** Repeated names with the number of times. */
export function repeatedly(names: readonly string[]): Record<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return Object.fromEntries([...times].filter(([, count]) => count > 1));
}
