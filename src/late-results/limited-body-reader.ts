import type { Readable } from 'node:stream';

export class BodyRefused extends Error {
  readonly statusCode: 413 | 503;

  constructor(statusCode: 413 | 503, message: string) {
    super(message);
    this.name = 'BodyRefused';
    this.statusCode = statusCode;
  }
}

/** Memory of a request without its body, so that the limit also holds for very many empty bodies. */
const bytesOfRequest = 16_384;

interface Arrival {
  readonly payload: Readable;
  bytes: number;
}

/**
 * Reads bodies as raw bytes under two limits: bytes of one body, and bytes of all bodies in memory. The second limit
 * keeps memory bounded when many connections send large bodies slowly.
 *
 * At the limit the oldest unfinished request is refused. A delivery arrives within milliseconds, so the oldest request
 * is not a delivery during an attack. Refusing the newest request would let thirty slow senders block the receiver.
 */
export class LimitedBodyReader {
  readonly #longestBody: number;
  readonly #mostInMemory: number;
  /** Oldest first. */
  readonly #arriving = new Set<Arrival>();
  #inMemory = 0;

  constructor(limits: { readonly longestBody: number; readonly bytesInMemory: number }) {
    this.#longestBody = limits.longestBody;
    this.#mostInMemory = limits.bytesInMemory;
  }

  /**
   * Reads a body and passes it to `use`. The body counts as in memory until `use` has ended.
   *
   * @param declared the `content-length` header: a body that is declared too large is not read
   * @throws BodyRefused, errors of `use`, and the stream's error if the sender breaks off or is refused at the limit
   */
  async read<Result>(
    payload: Readable,
    declared: string | undefined,
    use: (body: Buffer) => Promise<Result>,
  ): Promise<Result> {
    if (Number(declared) > this.#longestBody) throw tooLarge();
    const arrival: Arrival = { payload, bytes: 0 };
    try {
      return await use(await this.#collect(arrival));
    } finally {
      this.#release(arrival);
    }
  }

  async #collect(arrival: Arrival): Promise<Buffer> {
    const chunks: Buffer[] = [];
    this.#arriving.add(arrival);
    try {
      this.#hold(arrival, bytesOfRequest);
      let bytes = 0;
      // Not destroyed when the loop ends early: that would close the socket before the refusal is sent.
      for await (const chunk of arrival.payload.iterator({ destroyOnReturn: false })) {
        const { length } = chunk as Buffer;
        bytes += length;
        if (bytes > this.#longestBody) throw tooLarge();
        this.#hold(arrival, length);
        chunks.push(chunk as Buffer);
      }
      return Buffer.concat(chunks, bytes);
    } finally {
      this.#arriving.delete(arrival);
    }
  }

  #hold(arrival: Arrival, bytes: number): void {
    arrival.bytes += bytes;
    this.#inMemory += bytes;
    while (this.#inMemory > this.#mostInMemory) {
      const [first] = this.#arriving;
      if (first === undefined || first === arrival) {
        throw new BodyRefused(503, 'too many deliveries at once: send it again later');
      }
      this.#arriving.delete(first);
      this.#release(first);
      first.payload.destroy();
    }
  }

  #release(arrival: Arrival): void {
    this.#inMemory -= arrival.bytes;
    arrival.bytes = 0;
  }
}

function tooLarge(): BodyRefused {
  return new BodyRefused(413, 'the body is too large');
}
