/** A list that forgets its oldest entries beyond a number, and remembers how many there were. */
export class RecentEntries<Entry> {
  readonly #kept: number;
  #entries: Entry[] = [];
  #total = 0;

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** All that were ever added. */
  get total(): number {
    return this.#total;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#total += 1;
    // Forgotten a quarter at a time: moving the rest for every entry would cost more than the entry.
    if (this.#entries.length > this.#kept * 1.25) this.#entries = this.#entries.slice(-this.#kept);
  }

  /** The entries after the first `count` that were ever added, as far as they are kept. */
  since(count: number): readonly Entry[] {
    return this.#entries.slice(Math.max(0, count - (this.#total - this.#entries.length)));
  }
}
