import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';

/** Header values by lower-case name. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Full address, with its query. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The longest that the whole call may take: waiting for a connection, sending, answer to its last byte. */
  readonly deadlineMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Decompressed. Of an error status only the beginning, and what had come when the connection broke. */
  readonly body: Buffer;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly receivedAt: number;
}

/** What carries a request to the service: injected, so that a test or a proxy can stand in. */
export interface Transport {
  /**
   * Sends once: no retry, no redirect.
   *
   * @throws TransportError for whatever is no complete answer
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Why there is no complete answer. */
export class TransportError extends Error {
  /** False only where it is certain that not one byte of the request was written. */
  readonly sent: boolean;
  /**
   * A code of Node, OpenSSL or undici (or the name of an error without one); or DEADLINE, ABORTED, TOO_LARGE,
   * UNDECODABLE.
   */
  readonly code: string;
  /** Of the answer, where its head had come. */
  readonly status: number | undefined;
  readonly #body: Buffer;

  /** The original error is left out on purpose: parser errors of undici carry the bytes of the answer. */
  constructor(code: string, facts: { sent: boolean; status?: number | undefined; body?: Buffer }) {
    super(`no complete answer (${code})`);
    this.name = 'TransportError';
    this.code = code;
    this.sent = facts.sent;
    this.status = facts.status;
    this.#body = facts.body ?? Buffer.alloc(0);
  }

  /** What had come of the answer; private, so that no log prints it by accident. */
  body(): Buffer {
    return this.#body;
  }
}

export interface TransportLimits {
  /** Ten people of 60 KB are 600 KB; far above that it is no answer to ten people. */
  readonly answerBytes: number;
  readonly errorBytes: number;
  /** An error body is a courtesy: the status decides, so a slow body is not waited for any longer than this. */
  readonly errorBodyMilliseconds: number;
  readonly connectMilliseconds: number;
  /** Silence in the middle of an answer. */
  readonly silenceMilliseconds: number;
}

const defaultLimits: TransportLimits = {
  answerBytes: 16 * 1024 * 1024,
  errorBytes: 64 * 1024,
  errorBodyMilliseconds: 5_000,
  connectMilliseconds: 10_000,
  silenceMilliseconds: 30_000,
};

/**
 * HTTP over undici's dispatcher, with kept-alive connections.
 *
 * Below `fetch` and `request` on purpose: only a dispatch handler is told when a request is about to be written, and
 * that moment is the whole difference between "certainly not sent" and "may have been billed".
 */
export function createTransport(limits: Partial<TransportLimits> = {}): Transport {
  const bounds = { ...defaultLimits, ...limits };
  const agent = new Agent({
    connect: { timeout: bounds.connectMilliseconds },
    bodyTimeout: bounds.silenceMilliseconds,
    // The service may take its whole deadline to begin an answer; our own timer ends the call.
    headersTimeout: 0,
    // One request per connection: behind another one on the same socket it could not be said which was processed.
    pipelining: 1,
    // Below the idle time of common servers (5 s and more), so that a request seldom meets a closing connection.
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
  });
  return {
    send: async (request) => decode(await exchange(agent, request, bounds), bounds),
    close: async () => {
      if (!agent.closed) await agent.close();
    },
  };
}

function exchange(agent: Agent, request: HttpRequest, bounds: TransportLimits): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const call = new Exchange(bounds, resolve, reject);
    const deadline = setTimeout(() => call.stop('DEADLINE'), request.deadlineMilliseconds);
    const onAbort = (): void => {
      call.stop(isTimeout(request.signal?.reason) ? 'DEADLINE' : 'ABORTED');
    };
    call.onSettled = () => {
      clearTimeout(deadline);
      request.signal?.removeEventListener('abort', onAbort);
    };
    if (request.signal?.aborted) {
      onAbort();
      return;
    }
    request.signal?.addEventListener('abort', onAbort, { once: true });
    agent.dispatch(
      {
        origin: request.url.origin,
        path: request.url.pathname + request.url.search,
        method: request.method,
        headers: { ...request.headers, 'accept-encoding': 'gzip' },
        body: request.body ?? null,
      },
      call,
    );
  });
}

/** One request from its dispatch to its end, whichever comes first of answer, failure, deadline and abortion. */
class Exchange implements Dispatcher.DispatchHandler {
  onSettled: () => void = () => {};
  readonly #bounds: TransportLimits;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: TransportError) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #status: number | undefined;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #errorBodyTimer: NodeJS.Timeout | undefined;

  constructor(
    bounds: TransportLimits,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: TransportError) => void,
  ) {
    this.#bounds = bounds;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Called once a connection is up, immediately before the first byte is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) {
      controller.abort(new Error('given up before it was sent'));
    } else if (this.#controller) {
      // undici may write a request again when its connection breaks early; a paid call is never repeated by itself.
      controller.abort(new Error('not sent twice'));
      this.#fail('ECONNRESET');
    } else {
      this.#controller = controller;
    }
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (this.#isError()) {
      this.#errorBodyTimer = setTimeout(() => this.#finishAndAbort(), this.#bounds.errorBodyMilliseconds);
    }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#isError() && this.#bytes > this.#bounds.errorBytes) this.#finishAndAbort();
    else if (this.#bytes > this.#bounds.answerBytes) this.stop('TOO_LARGE');
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isError()) this.#finish();
    else this.#fail(codeOf(error));
  }

  /** Gives the call up. */
  stop(code: 'DEADLINE' | 'ABORTED' | 'TOO_LARGE'): void {
    if (this.#isError()) this.#finish();
    else this.#fail(code);
    this.#controller?.abort(new Error(code));
  }

  #finishAndAbort(): void {
    this.#finish();
    this.#controller?.abort(new Error('the rest of an error body is not waited for'));
  }

  /** The status of a refusal is known and is what decides, however little came of its body. */
  #isError(): boolean {
    return this.#status !== undefined && this.#status >= 300;
  }

  #finish(): void {
    const status = this.#status ?? 0;
    const body = this.#body(this.#isError() ? this.#bounds.errorBytes : this.#bytes);
    this.#settle(() => this.#resolve({ status, headers: this.#headers, body, receivedAt: Date.now() }));
  }

  #fail(code: string): void {
    const sent = this.#controller !== undefined;
    const error = new TransportError(code, {
      sent,
      status: this.#status,
      body: this.#body(this.#bounds.answerBytes),
    });
    this.#settle(() => this.#reject(error));
  }

  #body(bytes: number): Buffer {
    return Buffer.concat(this.#chunks, Math.min(bytes, this.#bytes));
  }

  #settle(end: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#errorBodyTimer);
    this.onSettled();
    end();
  }
}

const inflate = promisify(gunzip);

/** Undoes gzip, the only coding that is asked for, within the same bounds: a small body may hold gigabytes. */
async function decode(answer: HttpAnswer, bounds: TransportLimits): Promise<HttpAnswer> {
  const coding = answer.headers['content-encoding']?.toString().trim().toLowerCase();
  if (coding === undefined || coding === 'identity' || answer.body.length === 0) return answer;
  const isError = answer.status >= 300;
  try {
    if (coding !== 'gzip' && coding !== 'x-gzip') throw new Error('not asked for');
    const maxOutputLength = isError ? bounds.errorBytes : bounds.answerBytes;
    return { ...answer, body: await inflate(answer.body, { maxOutputLength }) };
  } catch (error) {
    if (isError) return { ...answer, body: Buffer.alloc(0) };
    const code = codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'TOO_LARGE' : 'UNDECODABLE';
    throw new TransportError(code, { sent: true, status: answer.status, body: answer.body });
  }
}

/** Where several addresses of a host were tried, the first one's failure stands for all. */
function codeOf(error: unknown): string {
  const { code, name, errors } = error as { code?: unknown; name?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  if (errors?.[0] !== undefined) return codeOf(errors[0]);
  return typeof name === 'string' ? name : 'UNKNOWN';
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
