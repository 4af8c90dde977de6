import { createHash } from 'node:crypto';

/**
 * Everything that looks random in the sandbox comes from here: the same seed and text give the same, on every machine.
 */
export class Chance {
  readonly #digest: Buffer;

  constructor(seed: number, text: string) {
    this.#digest = createHash('sha256').update(`${seed}\n${text}`).digest();
  }

  /** A whole number below `limit`; `part` (0 to 6) picks one of several independent draws. */
  below(limit: number, part = 0): number {
    return this.#digest.readUInt32BE(part * 4) % limit;
  }

  /** True for so many of all texts. */
  share(share: number, part = 0): boolean {
    return this.#digest.readUInt32BE(part * 4) < share * 2 ** 32;
  }

  pick<Item>(items: readonly Item[], part = 0): Item {
    return items[this.below(items.length, part)]!;
  }

  /** An opaque identifier of the service's kind. */
  identifier(): string {
    return this.#digest.toString('hex').slice(0, 24);
  }

  /** A signed 64-bit number beyond what a double can hold, as digits. */
  requestId(): string {
    const magnitude = (this.#digest.readBigUInt64BE(8) >> 2n) + 2n ** 60n;
    return `${this.share(0.5, 6) ? '-' : ''}${magnitude}`;
  }
}
