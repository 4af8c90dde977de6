/** The figures of a plan; credits are decimals as text. */
export interface PlanSummary {
  readonly planHash: string;
  readonly rows: number;
  /** Rows with a readable e-mail address; null: no column has addresses. */
  readonly withEmail: number | null;
  /** Rows for which the run does not ask, by outcome. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Maximum number of contacts that get the data of a known person without a call. */
  readonly filled: number;
  /** People to ask for. */
  readonly people: number;
  /** Of these people, the ones whom an earlier call found. */
  readonly foundBefore: number;
  /** Of these people, the ones who opted out of calls, if the run asks for phones: their phones are not asked for. */
  readonly peopleWithoutPhones: number;
  readonly calls: number;
  readonly pages: number;
  readonly credits: { readonly minimum: string; readonly expected: string; readonly worstCase: string };
  /** The range of the expected credits, and the number of earlier calls that it comes from; 0: it is an assumption. */
  readonly expectation: {
    readonly low: string;
    readonly high: string;
    readonly calls: number;
    /** The source of these calls; null: all sources. */
    readonly source: string | null;
    /** The assumption as a sentence; null: the range comes from earlier calls. */
    readonly assumption: string | null;
  };
  /** Unmet expectations of the export, one sentence each. */
  readonly unmet: readonly string[];
  /** People who are asked for first, in the first pages; null: the run has no pilot. */
  readonly pilot: { readonly people: number; readonly pages: number } | null;
  /** `--on-unknown retry`: a call whose answer is lost is repeated once, so the worst case counts each person twice. */
  readonly asksUnknownAgain: boolean;
  /**
   * The budget with the fewest credits left, if the worst case exceeds it, and what the run does when it is exhausted.
   */
  readonly shortBudget: {
    readonly budget: string;
    readonly available: string;
    readonly onEmpty: 'finish' | 'pause';
  } | null;
  /** The rate limits of the calls, by RATE_LIMITS and by the service: `20/minute, 600/hour`. */
  readonly rateLimits: string;
  /** RATE_LIMITS of the worker that made the plan, without the limits of the service. */
  readonly ownRateLimits: string;
  readonly etaSeconds: number;
  /** People who wait in paused runs: no other run asks for them. Null: none. */
  readonly inPausedRuns: { readonly reason: string; readonly next: string } | null;
}
