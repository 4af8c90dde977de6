/** What the sandbox has seen and billed. Sums are of everything since the log began. */
export interface Bill {
  /** Those that count against a rate window. */
  readonly calls: number;
  readonly refused: number;
  readonly people: number;
  /** Late results included. */
  readonly credits: string;
  readonly latePeople: number;
  /** Billed with results that came later. */
  readonly lateCredits: string;
  /** People who were billed for more than once, with how often; and the same for their late results. */
  readonly billedAgain: Readonly<Record<string, number>>;
  readonly lateBilledAgain: Readonly<Record<string, number>>;
  /** Of which call on details are kept: `billedAgain` and the log know those only. 1 is everything. */
  readonly detailsFrom: number;
  /**
   * Calls that neither cost nor count, by status and path: health, profile, users, usage, and whatever a credential may
   * not call.
   */
  readonly otherCalls: Readonly<Record<string, number>>;
}

/** Names that come more than once, with how often. */
export function repeatedly(names: readonly string[]): Record<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return Object.fromEntries([...times].filter(([, count]) => count > 1));
}
