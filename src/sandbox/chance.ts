import { createHash } from 'node:crypto';

/** Draws deterministic random values. Equal seeds and texts give equal values on every machine. */
export class Chance {
  readonly #digest: Buffer;

  constructor(seed: number, text: string) {
    this.#digest = createHash('sha256').update(`${seed}\n${text}`).digest();
  }

  /** Draws a whole number below `limit`. @param part (0 to 6) selects one of several independent draws */
  below(limit: number, part = 0): number {
    return this.#digest.readUInt32BE(part * 4) % limit;
  }

  /** Draws true for this share of all texts. */
  share(share: number, part = 0): boolean {
    return this.#digest.readUInt32BE(part * 4) < share * 2 ** 32;
  }

  pick<Item>(items: readonly Item[], part = 0): Item {
    return items[this.below(items.length, part)]!;
  }

  /** Makes an opaque identifier in the service's format. */
  identifier(): string {
    return this.#digest.toString('hex').slice(0, 24);
  }

  /** Makes the digits of a signed 64-bit number that JavaScript's numbers cannot hold. */
  requestId(): string {
    const magnitude = (this.#digest.readBigUInt64BE(8) >> 2n) + 2n ** 60n;
    return `${this.share(0.5, 6) ? '-' : ''}${magnitude}`;
  }
}
