import { describeErrorCode, errorCode } from '../domain/problem.ts';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { commandEnvironment } from '../config/command-environment.ts';
import { moveLoginToHeader } from '../domain/text/url-parts.ts';

/** A receiver of notifications. If a delivery fails, `send` rejects with a reason that contains no URL or secret. */
export interface Channel {
  readonly name: 'url' | 'command';
  send(body: string, signal: AbortSignal): Promise<void>;
}

const requestMilliseconds = 10_000;
const commandMilliseconds = 30_000;

/** Posts JSON. Only a 2xx status is a success. Redirects are not followed, because they could lead to any host. */
export async function postJson(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const receiver = moveLoginToHeader(url);
  const answer = await fetch(receiver.url, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { ...receiver.headers, 'content-type': 'application/json', 'user-agent': 'enrich', ...headers },
    signal: AbortSignal.any([signal, AbortSignal.timeout(requestMilliseconds)]),
  }).catch((error: unknown) => {
    throw new Error(`no answer: ${describeErrorCode(codeOf(error))}`);
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
}

/** Posts to a URL, with a secret signed as `x-enrich-signature: sha256=<HMAC in hex>`. */
export function urlChannel(url: string, secret: string | undefined): Channel {
  return {
    name: 'url',
    send: (body, signal) =>
      postJson(
        url,
        body,
        secret === undefined ? {} : { 'x-enrich-signature': signatureOf(body, secret) },
        signal,
      ),
  };
}

export function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Runs a shell command with the event as JSON on standard input. Only exit code 0 is a success. */
export function commandChannel(command: string): Channel {
  return {
    name: 'command',
    send: async (body, signal) => {
      const child = spawn(command, {
        shell: true,
        stdio: ['pipe', 'ignore', 'ignore'],
        env: commandEnvironment(),
        timeout: commandMilliseconds,
        killSignal: 'SIGKILL',
        signal,
      });
      // The command may close its standard input before it has read everything.
      child.stdin.on('error', () => {});
      child.stdin.end(body);
      const [code] = (await once(child, 'close').catch((error: unknown) => {
        throw new Error(codeOf(error));
      })) as [number | null];
      if (code !== 0) throw new Error(code === null ? 'the command was killed' : `exit code ${code}`);
    },
  };
}

/** The code of an error or of its cause, in which `fetch` hides it. The message could contain the URL. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return errorCode(cause) ?? (cause as Error).name;
}
