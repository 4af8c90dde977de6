/** A plan in figures; credits are decimals as text. */
export interface PlanSummary {
  readonly planHash: string;
  readonly rows: number;
  /** Rows with a readable e-mail address; null: no column has addresses. */
  readonly withEmail: number | null;
  /** Rows that fall out before anything is paid, by outcome. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Contacts that get the data of a known person without a call, at most. */
  readonly filled: number;
  /** Rows that will be asked for. */
  readonly people: number;
  /** Those of them whom an earlier call found. */
  readonly foundBefore: number;
  /** Those of them who opted out of calls, in a run that asks for phones: their phones are not asked for. */
  readonly peopleWithoutPhones: number;
  readonly calls: number;
  readonly pages: number;
  readonly credits: { readonly minimum: string; readonly expected: string; readonly worstCase: string };
  /** The range of the expected credits, and the calls that show it; no calls: it is assumed. */
  readonly expectation: {
    readonly low: string;
    readonly high: string;
    readonly calls: number;
    /** Whose calls these are; null: of all sources. */
    readonly source: string | null;
    /** The assumption in words, in place of calls. */
    readonly assumption: string | null;
  };
  /** Unmet expectations of the export, one sentence each. */
  readonly unmet: readonly string[];
  /** People who are asked for first, in the first pages; null: the run has no pilot. */
  readonly pilot: { readonly people: number; readonly pages: number } | null;
  /** A call whose answer is lost is made once more: the worst case counts everybody twice. */
  readonly asksUnknownAgain: boolean;
  /** The tightest budget that applies, if the worst case does not fit it, and what the run does where it is empty. */
  readonly shortBudget: {
    readonly budget: string;
    readonly available: string;
    readonly onEmpty: 'finish' | 'pause';
  } | null;
  /** What the calls are held to, by RATE_LIMITS and by what the service says: `20/minute, 600/hour`. */
  readonly rateLimits: string;
  /** RATE_LIMITS of the worker that planned, without what the service says. */
  readonly ownRateLimits: string;
  readonly etaSeconds: number;
}
