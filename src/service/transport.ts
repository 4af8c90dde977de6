import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { errorCode } from '../domain/problem.ts';

/** HTTP headers: values by the name of the header in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the value of a header, also if a proxy has repeated it; undefined if there is no single value. */
export function headerValue(headers: Headers, name: string): string | undefined {
  const values = [headers[name]].flat();
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Time limit of the whole call, from waiting for a connection to the last byte of the answer. */
  readonly deadlineMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Decompressed body. For an error status it can be only the part that arrived. */
  readonly body: Buffer;
  /** Time when the answer arrived, in milliseconds since 1970 by this machine's clock. */
  readonly receivedAt: number;
}

/** Sends requests over the network. Tests replace it. */
export interface Transport {
  /** Sends one request, without retries and redirects. @throws TransportError if there is no complete answer */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export class TransportError extends Error {
  /** False only if no byte of the request was written. */
  readonly sent: boolean;
  /** A code of Node, OpenSSL or undici, the name of an error, or DEADLINE, ABORTED, TOO_LARGE or UNDECODABLE. */
  readonly code: string;
  /** HTTP status; undefined if the headers of the answer did not arrive. */
  readonly status: number | undefined;

  /** The original error is not kept, because parser errors of undici contain bytes of the answer. */
  constructor(code: string, facts: { sent: boolean; status?: number | undefined }) {
    super(`no complete answer (${code})`);
    this.name = 'TransportError';
    this.code = code;
    this.sent = facts.sent;
    this.status = facts.status;
  }
}

export interface TransportLimits {
  /** Maximum bytes of the headers of an answer. Node and undici allow 16 KB, and a paid answer would be lost. */
  readonly headBytes: number;
  /** Maximum bytes of the body of an answer. Ten people with much data are 600 KB. */
  readonly answerBytes: number;
  readonly connectMilliseconds: number;
  /** Maximum time between two bytes of an answer. */
  readonly silenceMilliseconds: number;
}

const defaultLimits: TransportLimits = {
  headBytes: 256 * 1024,
  answerBytes: 16 * 1024 * 1024,
  connectMilliseconds: 10_000,
  silenceMilliseconds: 30_000,
};

/** Creates a transport over undici's dispatcher. Unlike `fetch`, it tells "not sent" from "may have been billed". */
export function createTransport(limits: Partial<TransportLimits> = {}): Transport {
  const bounds = { ...defaultLimits, ...limits };
  const agent = new Agent({
    connect: { timeout: bounds.connectMilliseconds },
    maxHeaderSize: bounds.headBytes,
    bodyTimeout: bounds.silenceMilliseconds,
    // The deadline of the call limits the wait for the headers.
    headersTimeout: 0,
    // With two requests on one connection it would be unclear which of them the service processed before a failure.
    pipelining: 1,
    // The value is below the idle time of common servers (5 s and more), which close idle connections.
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

/** Time from the deadline to the end of a call, in which an answer that has arrived is still read. */
const readMilliseconds = 100;

/** Sends one request. The first of answer, failure, deadline and abort ends the call. */
function exchange(agent: Agent, request: HttpRequest, bounds: TransportLimits): Promise<HttpAnswer> {
  const { url, signal } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let status: number | undefined;
    let headers: Headers = {};
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isSettled = false;

    const settle = (end: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(deadline);
      clearTimeout(reading);
      signal?.removeEventListener('abort', onAbort);
      end();
    };
    const finish = (): void =>
      settle(() =>
        resolve({ status: status ?? 0, headers, body: Buffer.concat(chunks), receivedAt: Date.now() }),
      );
    const fail = (code: string): void =>
      settle(() => reject(new TransportError(code, { sent: controller !== undefined, status })));
    /** For an error status an incomplete body is sufficient, because the status decides. */
    const end = (code: string): void => (status !== undefined && status >= 300 ? finish() : fail(code));
    const stop = (code: 'DEADLINE' | 'ABORTED' | 'TOO_LARGE'): void => {
      end(code);
      controller?.abort(new Error(code));
    };

    // When a suspended process continues, its timers run first, before an answer that has already arrived.
    let reading: NodeJS.Timeout | undefined;
    const expire = (): void => {
      reading ??= setTimeout(() => stop('DEADLINE'), readMilliseconds);
    };
    const deadline = setTimeout(expire, request.deadlineMilliseconds);
    const onAbort = (): void => (isTimeout(signal?.reason) ? expire() : stop('ABORTED'));
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });

    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: { ...request.headers, 'accept-encoding': 'gzip' },
        body: request.body ?? null,
      },
      {
        /** undici calls this when a connection is open, immediately before it writes the first byte. */
        onRequestStart: (starting) => {
          if (isSettled) starting.abort(new Error('aborted before the request was sent'));
          else if (controller) {
            // undici may repeat a request after an early disconnect, but a paid call must be sent only once.
            starting.abort(new Error('not sent twice'));
            fail('ECONNRESET');
          } else controller = starting;
        },
        onResponseStart: (_, answered, stated) => {
          if (answered >= 200) [status, headers] = [answered, stated];
        },
        onResponseData: (_, chunk) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > bounds.answerBytes) stop('TOO_LARGE');
        },
        onResponseEnd: finish,
        onResponseError: (_, error) => end(codeOf(error)),
      },
    );
  });
}

/** Decompresses a body. Damaged, it counts as empty under an error status, because the status decides. */
async function decode(answer: HttpAnswer, bounds: TransportLimits): Promise<HttpAnswer> {
  try {
    return { ...answer, body: await decompress(answer.body, bounds.answerBytes) };
  } catch (error) {
    if (answer.status >= 300) return { ...answer, body: Buffer.alloc(0) };
    const code = codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'TOO_LARGE' : 'UNDECODABLE';
    throw new TransportError(code, { sent: true, status: answer.status });
  }
}

const unzip = promisify(gunzip);

/**
 * Decompresses the body of an answer or a delivery. The client requests only gzip. The bytes decide, because proxies
 * remove, repeat or keep the header: gzip begins with 1f 8b, and JSON never does.
 *
 * @param maxOutputLength maximum bytes, because a small body can expand to gigabytes
 * @throws Error with the code ERR_BUFFER_TOO_LARGE for a result above the limit, and others
 */
export async function decompress(body: Buffer, maxOutputLength: number): Promise<Buffer> {
  const isZipped = body.length >= 2 && body.readUInt16BE() === 0x1f8b;
  return isZipped ? unzip(body, { maxOutputLength }) : body;
}

function codeOf(error: unknown): string {
  const { name } = error as { name?: unknown };
  return errorCode(error) ?? (typeof name === 'string' ? name : 'UNKNOWN');
}

/** True if a time limit caused the abort. An answer that has arrived is then still read. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
