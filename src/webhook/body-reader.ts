import type { Readable } from 'node:stream';

/** A body that is not taken in. */
export class BodyRefused extends Error {
  readonly statusCode: 413 | 503;

  constructor(statusCode: 413 | 503, message: string) {
    super(message);
    this.name = 'BodyRefused';
    this.statusCode = statusCode;
  }
}

/**
 * Reads bodies as raw bytes under two limits: of one body, and of all that are in memory at once. The second keeps memory
 * flat however many connections send large bodies slowly, which a limit on each cannot do.
 */
export class BodyReader {
  readonly #longestBody: number;
  readonly #bytesInMemory: number;
  #inMemory = 0;

  constructor(limits: { readonly longestBody: number; readonly bytesInMemory: number }) {
    this.#longestBody = limits.longestBody;
    this.#bytesInMemory = limits.bytesInMemory;
  }

  /**
   * @param declared the `content-length` header: a body that says itself that it is too large is not read at all
   * @returns the body, which counts as in memory until `release`
   * @throws BodyRefused
   */
  async read(payload: Readable, declared: string | undefined): Promise<Buffer> {
    if (Number(declared) > this.#longestBody) throw tooLarge();
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of payload as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        this.#inMemory += chunk.length;
        if (bytes > this.#longestBody) throw tooLarge();
        if (this.#inMemory > this.#bytesInMemory) {
          throw new BodyRefused(503, 'too many deliveries at once: send it again later');
        }
        chunks.push(chunk);
      }
    } catch (error) {
      this.#inMemory -= bytes;
      throw error;
    }
    return Buffer.concat(chunks, bytes);
  }

  /** The body is stored, or given up. */
  release(body: Buffer): void {
    this.#inMemory -= body.length;
  }
}

function tooLarge(): BodyRefused {
  return new BodyRefused(413, 'the body is too large');
}
