/**
 * A batch of ten people who are all refused costs 19 calls. Ten batches in flight would make 182 calls before one of
 * them has shown that the service refuses everybody.
 */
const longest = 20;

/** A batch with one refused person has two refused calls before the other half of the people is accepted. */
const usual = 2;

/** Counts calls in a row that the service refused for their content (422), for each run of this worker. */
export class RefusalStreaks {
  readonly #lengths = new Map<string, number>();

  /**
   * Counts one more refused call of a batch in which the service has accepted no call.
   *
   * @param ofBatch refused calls of the batch, this one included
   * @returns whether the run has so many refused calls in a row that the request must be wrong, and not the people
   */
  tooLong(runId: string, ofBatch: number): boolean {
    const length = (this.#lengths.get(runId) ?? 0) + (ofBatch > usual ? 1 : 0);
    this.#lengths.set(runId, length);
    return length >= longest;
  }

  /** Ends the streak of a run: the service accepted a call, or the run pauses. */
  end(runId: string): void {
    this.#lengths.delete(runId);
  }
}
