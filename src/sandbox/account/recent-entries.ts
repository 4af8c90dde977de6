/** A list that drops its oldest entries beyond a number and counts all entries. */
export class RecentEntries<Entry> {
  readonly #kept: number;
  #entries: Entry[] = [];
  #total = 0;

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** Number of entries ever added. */
  get total(): number {
    return this.#total;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#total += 1;
    // Drops a quarter at a time, because moving the rest for every entry is slow.
    if (this.#entries.length > this.#kept * 1.25) this.#entries = this.#entries.slice(-this.#kept);
  }

  /** The kept entries after the first `count` ever added. */
  since(count: number): readonly Entry[] {
    return this.#entries.slice(Math.max(0, count - (this.#total - this.#entries.length)));
  }
}
