/** The late results of a run, counted in requests and deliveries. */
export interface LateResultsStatus {
  /** Requests whose results are awaited. */
  readonly awaited: number;
  /** Requests whose results did not arrive in time. Results that arrive later are still applied. */
  readonly expired: number;
  /** Deliveries that took effect. */
  readonly arrived: number;
  /** Of those, by poll. */
  readonly polled: number;
  /** Of these deliveries, the ones that took effect after the run had ended. */
  readonly late: number;
  /** Repeated deliveries. */
  readonly duplicate: number;
  /** Deliveries that cannot be applied. */
  readonly quarantined: number;
  /** Deliveries that wait in the inbox. */
  readonly waiting: number;
  /** When the run stops waiting, as ISO 8601; null: no results are awaited. */
  readonly until: string | null;
  /** When these figures were read, by the database's clock, as ISO 8601. */
  readonly readAt: string;
  /** When the next poll is due, also of a call whose deadline has passed. A worker may be late. */
  readonly nextPollAt: string | null;
  /**
   * When to sync next at the latest, by the same clock: a poll is due and its window has a free slot, or a deadline
   * passes.
   */
  readonly nextSyncAt: string | null;
}
