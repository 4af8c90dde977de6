import { Agent, buildConnector, fetch } from 'undici';
import { UsageProblem } from '../../domain/problem.ts';
import { moveLoginToHeader } from '../../domain/text/url-parts.ts';
import type { RemoteExport } from './download.ts';
import { refusePlainHttp, type ExportAddress } from './export-address.ts';

const connectMilliseconds = 15_000;
/** Time without data after which the server counts as unreachable. */
const silenceMilliseconds = 60_000;
/** HTTP statuses after which a retry can help. */
const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Opens an export at a web URL while `use` runs. `fetch` sends a login only to the host of the URL. */
export async function withHttpExport<Result>(
  address: Extract<ExportAddress, { kind: 'http' }>,
  use: (remote: RemoteExport) => Promise<Result>,
): Promise<Result> {
  const connect = buildConnector({ timeout: connectMilliseconds });
  const agent = new Agent({
    // Every connection, also that of a redirect, is opened here.
    connect: (options, callback) => {
      try {
        refusePlainHttp(new URL(`${options.protocol}//${options.host}`), new URL(address.url));
        connect(options, callback);
      } catch (error) {
        callback(error as Error, null);
      }
    },
    headersTimeout: silenceMilliseconds,
    bodyTimeout: silenceMilliseconds,
  });
  try {
    const open: RemoteExport['open'] = async (signal) => {
      const { url, headers: login } = moveLoginToHeader(address.url);
      const headers = { ...login, 'accept-encoding': 'identity' };
      const answer = await fetch(url, { dispatcher: agent, headers, signal: signal ?? null }).catch(
        (error: Error) => {
          throw error.cause ?? error;
        },
      );
      if (answer.status === 200 && answer.body !== null) return answer.body;
      await answer.body?.cancel();
      throw refusal(answer.status, address.shown);
    };
    return await use({ shown: address.shown, open });
  } finally {
    // `agent.close` would wait for an answer that is never read.
    await agent.destroy();
  }
}

/** Makes the error for an HTTP status. It is not a Problem if a retry can help. */
function refusal(status: number, where: string): Error {
  if (transientStatuses.has(status)) return new Error(`the server answers ${status}`);
  const isMissing = status === 404 || status === 410;
  const reason = isMissing ? 'there is no such export' : 'the server refuses the export';
  const what = `${reason} (the server answers ${status})`;
  return new UsageProblem(isMissing ? 'export.missing' : 'export.refused', what, {
    where,
    next:
      status === 401 || status === 403
        ? 'check the login in the address, or whether its signature has expired'
        : 'check the address; open it in a browser for more details',
  });
}
