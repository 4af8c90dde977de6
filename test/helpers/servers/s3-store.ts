import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { listenHere } from './ports.ts';

interface StoredObject {
  readonly body: Buffer;
  readonly modified: Date;
}

/** Changes that a test makes to answers. */
export interface Interference {
  /** Number of bytes of the next answer with a body after which the connection is cut. */
  cutAfter: number | undefined;
  /** HTTP statuses of the next answers, in this order. */
  readonly statuses: number[];
}

/**
 * The part of S3 that exports need, over HTTP: GetObject, ListObjectsV2 in pages of two,
 * PutObject and multipart uploads. Also serves as a plain web server: without `list-type` a path is a file.
 */
export class S3Store {
  readonly objects = new Map<string, StoredObject>();
  /** Parts of uploads that have neither been completed nor aborted, by the id of the upload. */
  readonly uploads = new Map<string, Map<number, Buffer>>();
  readonly interference: Interference = { cutAfter: undefined, statuses: [] };
  /** Method, path and relevant headers of every request. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[] = [];
  /** The only login that may fetch paths; undefined if no login is needed. */
  login: string | undefined;
  /** Targets of redirects by path. */
  readonly redirects = new Map<string, string>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, answer) => this.#answer(request, answer));
  }

  static async open(): Promise<S3Store> {
    const store = new S3Store();
    await listenHere(store.#server);
    return store;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stores an object. @param path `bucket/key` */
  put(path: string, content: string | Buffer, modified = new Date('2026-11-20T01:00:00Z')): void {
    this.objects.set(`/${path}`, { body: Buffer.from(content), modified });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, answer: ServerResponse): void {
    const url = new URL(this.endpoint + (request.url ?? '/'));
    const path = decodeURIComponent(url.pathname);
    this.requests.push({ path: request.url ?? '', headers: request.headers });
    const status = this.interference.statuses.shift();
    if (status !== undefined) return void answer.writeHead(status).end();
    const leadsTo = this.redirects.get(path);
    if (leadsTo !== undefined) return void answer.writeHead(302, { location: leadsTo }).end();
    if (this.login !== undefined && request.headers.authorization !== this.login)
      return void answer.writeHead(401).end();
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void this.#write(request, path, url.searchParams, answer);
    if (url.searchParams.get('list-type') === '2') return this.#list(path, url.searchParams, answer);
    const found = this.objects.get(path);
    if (!found) return refuse(answer, 404, 'NoSuchKey');
    const etag = `"${createHash('md5').update(found.body).digest('hex')}"`;
    const { body } = found;
    answer.writeHead(200, {
      etag,
      'content-length': body.length,
      'last-modified': found.modified.toUTCString(),
    });
    const { cutAfter } = this.interference;
    if (cutAfter === undefined) return void answer.end(body);
    this.interference.cutAfter = undefined;
    answer.write(body.subarray(0, cutAfter), () => answer.destroy());
  }

  async #write(
    request: IncomingMessage,
    path: string,
    parameters: URLSearchParams,
    answer: ServerResponse,
  ): Promise<void> {
    const body = await buffer(request);
    const id = parameters.get('uploadId');
    const parts = this.uploads.get(id ?? '');
    if (request.method === 'DELETE') {
      this.uploads.delete(id ?? '');
      return void answer.writeHead(204).end();
    }
    if (request.method === 'PUT' && id === null)
      this.objects.set(path, { body, modified: new Date('2026-11-20T01:00:00Z') });
    else if (request.method === 'PUT') {
      parts!.set(Number(parameters.get('partNumber')), body);
    } else if (id !== null) {
      const numbers = [...body.toString().matchAll(/<PartNumber>(\d+)</g)].map(([, number]) =>
        Number(number),
      );
      this.put(path.slice(1), Buffer.concat(numbers.map((number) => parts!.get(number)!)));
      this.uploads.delete(id);
    } else this.uploads.set(path, new Map());
    answer.writeHead(200, { 'content-type': 'application/xml', etag: '"part"' });
    answer.end(
      request.method === 'POST' ? `<Result><UploadId>${path}</UploadId><ETag>"x"</ETag></Result>` : '',
    );
  }

  #list(path: string, parameters: URLSearchParams, answer: ServerResponse): void {
    const bucket = path.replace(/\/$/, '');
    const prefix = `${bucket}/${parameters.get('prefix') ?? ''}`;
    const after = Number(parameters.get('continuation-token') ?? 0);
    const all = [...this.objects].filter(([name]) => name.startsWith(prefix)).sort();
    const page = all.slice(after, after + 2);
    const more = after + 2 < all.length;
    const contents = page.map(
      ([name, { body, modified }]) =>
        `<Contents><Key>${name.slice(bucket.length + 1)}</Key><Size>${body.length}</Size>` +
        `<ETag>&quot;${createHash('md5').update(body).digest('hex')}&quot;</ETag>` +
        `<LastModified>${modified.toISOString()}</LastModified></Contents>`,
    );
    answer.writeHead(200, { 'content-type': 'application/xml' });
    answer.end(
      `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>` +
        (more ? `<NextContinuationToken>${after + 2}</NextContinuationToken>` : '') +
        `${contents.join('')}</ListBucketResult>`,
    );
  }
}

function refuse(answer: ServerResponse, status: number, code: string): void {
  answer.writeHead(status, { 'content-type': 'application/xml' });
  answer.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
