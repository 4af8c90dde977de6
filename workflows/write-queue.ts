/** Writes that are made one after another, in the order of the calls. */
export class WriteQueue {
  #last: Promise<void> = Promise.resolve();
  #open = 0;

  /** Makes a write after all earlier ones, also if these fail. */
  add(write: () => Promise<void>): Promise<void> {
    const make = async (): Promise<void> => {
      try {
        await write();
      } finally {
        this.#open -= 1;
      }
    };
    this.#open += 1;
    this.#last = this.#last.then(make, make);
    return this.#last;
  }

  /** Waits until every write has ended, also one that is added meanwhile. */
  async drain(): Promise<void> {
    while (this.#open > 0) await this.#last.catch(() => {});
  }
}
