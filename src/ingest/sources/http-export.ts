import { Agent, request, type Dispatcher } from 'undici';
import { UsageProblem } from '../../domain/problem.ts';
import { basic, withoutLogin, decodePercent } from '../../domain/text/url-parts.ts';
import type { RemoteContent, RemoteExport } from './download.ts';
import { refusePlainHttp, type ExportAddress } from './export-address.ts';

type HttpAddress = Extract<ExportAddress, { kind: 'http' }>;

const mostRedirects = 5;
const connectMilliseconds = 15_000;
/** Time without a byte after which the server counts as unreachable. */
const silenceMilliseconds = 60_000;
const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * An export at a web address. A login in the address is sent only to its own host.
 *
 * @param use ends before the connections are closed
 */
export async function withHttpExport<Result>(
  address: HttpAddress,
  use: (remote: HttpExport) => Promise<Result>,
): Promise<Result> {
  const agent = new Agent({
    connect: { timeout: connectMilliseconds },
    headersTimeout: silenceMilliseconds,
    bodyTimeout: silenceMilliseconds,
  });
  try {
    return await use(new HttpExport(address, agent));
  } finally {
    // Not `close`: it would wait for an answer that is not read.
    await agent.destroy();
  }
}

class HttpExport implements RemoteExport {
  readonly shown: string;
  readonly #url: URL;
  readonly #agent: Agent;

  constructor(address: HttpAddress, agent: Agent) {
    this.shown = address.shown;
    this.#url = new URL(address.url);
    this.#agent = agent;
  }

  async open(signal: AbortSignal): Promise<RemoteContent> {
    const { statusCode, headers, body } = await this.#ask(signal);
    if (statusCode !== 200) {
      await body.dump();
      this.#refuse(statusCode);
    }
    const tag = text(headers.etag);
    const length = text(headers['content-length']);
    return {
      // A weak version says that two contents are equivalent, and not that their bytes are equal.
      etag: tag?.startsWith('"') ? tag : undefined,
      bytes: length === undefined ? undefined : Number(length),
      body,
    };
  }

  async #ask(signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    let url = this.#url;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const authorization = this.#authorizationFor(url);
      const answer = await request(withoutLogin(url), {
        dispatcher: this.#agent,
        headers: {
          'accept-encoding': 'identity',
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

  #authorizationFor(url: URL): string | undefined {
    const { origin, username, password } = this.#url;
    if (url.origin !== origin || username + password === '') return undefined;
    return basic(decodePercent(username), decodePercent(password));
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
          ? 'check the login in the address, or whether its signature has expired'
          : 'check the address; open it in a browser for more details',
    });
  }
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
