import { Agent, request, type Dispatcher } from 'undici';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
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
  use: (remote: RemoteExport) => Promise<Result>,
): Promise<Result> {
  const agent = new Agent({
    connect: { timeout: connectMilliseconds },
    headersTimeout: silenceMilliseconds,
    bodyTimeout: silenceMilliseconds,
  });
  try {
    return await use({ shown: address.shown, open: (signal) => openAddress(address, agent, signal) });
  } finally {
    // Not `close`: it would wait for an answer that is not read.
    await agent.destroy();
  }
}

async function openAddress(address: HttpAddress, agent: Agent, signal: AbortSignal): Promise<RemoteContent> {
  const { statusCode, headers, body } = await ask(address, agent, signal);
  if (statusCode !== 200) {
    await body.dump();
    throw refusal(statusCode, address.shown);
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

async function ask(
  { url: given, shown }: HttpAddress,
  dispatcher: Agent,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const { origin, username, password } = new URL(given);
  const login = basic(decodePercent(username), decodePercent(password));
  const redirected = (how: string): Problem =>
    new UsageProblem('export.redirected', `the address redirects ${how}`, {
      where: shown,
      next: 'use the address of the export itself, without redirects',
    });
  let url = new URL(given);
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const isOwn = url.origin === origin && username + password !== '';
    const answer = await request(withoutLogin(url), {
      dispatcher,
      headers: { 'accept-encoding': 'identity', ...(isOwn && { authorization: login }) },
      signal,
    });
    const location = text(answer.headers.location);
    if (![301, 302, 303, 307, 308].includes(answer.statusCode) || location === undefined) return answer;
    await answer.body.dump();
    if (!URL.canParse(location, url.href)) throw redirected('to an invalid address');
    const next = new URL(location, url);
    refusePlainHttp(next, url);
    url = next;
  }
  throw redirected('too many times');
}

/** Another error than a Problem: a retry can help. */
function refusal(status: number, where: string): Error {
  if (passingStatuses.has(status)) return new Error(`the server answers ${status}`);
  if (status === 404 || status === 410) {
    return new UsageProblem('export.missing', `there is no such export (the server answers ${status})`, {
      where,
      next: 'check the address',
    });
  }
  return new UsageProblem('export.refused', `the server refuses the export (it answers ${status})`, {
    where,
    next:
      status === 401 || status === 403
        ? 'check the login in the address, or whether its signature has expired'
        : 'check the address; open it in a browser for more details',
  });
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
