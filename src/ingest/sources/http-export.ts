import { Agent, request, type Dispatcher } from 'undici';
import { UsageProblem } from '../../domain/problem.ts';
import { basic, withoutLogin } from '../../domain/text/basic-login.ts';
import { decodePercent } from '../../domain/text/decode-percent.ts';
import type { RemoteExport, RemotePart } from './download.ts';
import { refusePlainHttp, type ExportAddress } from './export-address.ts';
import { basicAuthorization } from './netrc.ts';

type HttpAddress = Extract<ExportAddress, { kind: 'http' }>;

const mostRedirects = 5;
const connectMilliseconds = 15_000;
/** Time without a byte after which the server counts as unreachable. */
const silenceMilliseconds = 60_000;
const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * An export at a web address. Logins come from the address or from `.netrc`, and each is sent only to its own host.
 *
 * @param use ends before the connections are closed
 */
export async function withHttpExport<Result>(
  address: HttpAddress,
  options: { readonly netrcFile: string },
  use: (remote: HttpExport) => Promise<Result>,
): Promise<Result> {
  const agent = new Agent({
    connect: { timeout: connectMilliseconds },
    headersTimeout: silenceMilliseconds,
    bodyTimeout: silenceMilliseconds,
  });
  try {
    return await use(new HttpExport(address, agent, options.netrcFile));
  } finally {
    // Not `close`: it would wait for an answer that is not read.
    await agent.destroy();
  }
}

/** Whether the content at an address still has a known version. */
export function isStillAt(
  address: HttpAddress,
  etag: string,
  options: { readonly netrcFile: string },
  signal: AbortSignal,
): Promise<boolean> {
  // If this request fails, the download fails too, and says why.
  return withHttpExport(address, options, (remote) => remote.isStill(etag, signal)).catch(() => false);
}

class HttpExport implements RemoteExport {
  readonly shown: string;
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #netrcFile: string;

  constructor(address: HttpAddress, agent: Agent, netrcFile: string) {
    this.shown = address.shown;
    this.#url = new URL(address.url);
    this.#agent = agent;
    this.#netrcFile = netrcFile;
  }

  async isStill(etag: string, signal: AbortSignal): Promise<boolean> {
    const answer = await this.#ask({ 'if-none-match': etag }, signal);
    await answer.body.dump();
    return answer.statusCode === 304;
  }

  async open(from: number, etag: string | undefined, signal: AbortSignal): Promise<RemotePart> {
    const answer = await this.#ask(
      from > 0 && etag !== undefined ? { range: `bytes=${from}-`, 'if-range': etag } : {},
      signal,
    );
    const { statusCode, headers } = answer;
    if (statusCode !== 200 && statusCode !== 206) {
      await answer.body.dump();
      // The version has changed: starts again from the beginning.
      if (statusCode === 416 && from > 0) return this.open(0, undefined, signal);
      this.#refuse(statusCode);
    }
    const tag = text(headers.etag);
    const [, start, whole] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(text(headers['content-range']) ?? '') ?? [];
    const isOther = statusCode === 206 && tag !== undefined && tag !== etag;
    if (from > 0 && (isOther || whole === '*')) {
      // A part of another version does not fit, and without the whole size the end of the content cannot be recognised:
      // starts again from the beginning.
      answer.body.on('error', () => {}).destroy();
      return this.open(0, undefined, signal);
    }
    const length = Number(text(headers['content-length']) ?? Number.NaN);
    if (statusCode === 206 && Number(start) !== from) throw new Error('another part came than was asked for');
    return {
      from: statusCode === 206 ? from : 0,
      // A weak version says that two contents are equivalent, and not that their bytes are equal.
      etag: tag?.startsWith('"') ? tag : undefined,
      bytes: statusCode === 206 ? Number(whole) : Number.isNaN(length) ? undefined : length,
      body: answer.body,
    };
  }

  async #ask(headers: Record<string, string>, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    let url = this.#url;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const authorization = await this.#authorizationFor(url);
      const answer = await request(withoutLogin(url), {
        dispatcher: this.#agent,
        headers: {
          // Without compression for the transfer, because parts of compressed transfers do not fit together.
          'accept-encoding': 'identity',
          ...headers,
          ...(authorization !== undefined && { authorization }),
        },
        signal,
      });
      const location = text(answer.headers.location);
      if (![301, 302, 303, 307, 308].includes(answer.statusCode) || location === undefined) return answer;
      await answer.body.dump();
      if (!URL.canParse(location, url.href)) {
        throw new UsageProblem('export.redirected', 'the address redirects to an invalid address', {
          where: this.shown,
          next: 'use the address of the export itself, without redirects',
        });
      }
      const next = new URL(location, url);
      refusePlainHttp(next, url);
      url = next;
    }
    throw new UsageProblem('export.redirected', 'the address redirects too many times', {
      where: this.shown,
      next: 'use the address of the export itself, without redirects',
    });
  }

  async #authorizationFor(url: URL): Promise<string | undefined> {
    const { username, password } = this.#url;
    if (url.origin === this.#url.origin && username + password !== '')
      return basic(decodePercent(username), decodePercent(password));
    // The netrc default applies to the host that a person has named, not to the target of a redirect.
    return basicAuthorization(this.#netrcFile, url.hostname, url.hostname !== this.#url.hostname);
  }

  #refuse(status: number): never {
    if (passingStatuses.has(status)) throw new Error(`the server answers ${status}`);
    if (status === 404 || status === 410) {
      throw new UsageProblem('export.missing', `there is no such export (the server answers ${status})`, {
        where: this.shown,
        next: 'check the address',
      });
    }
    throw new UsageProblem('export.refused', `the server refuses the export (it answers ${status})`, {
      where: this.shown,
      next:
        status === 401 || status === 403
          ? 'check the login in .netrc (NETRC), or whether the signature in the address has expired'
          : 'check the address; open it in a browser for more details',
    });
  }
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
