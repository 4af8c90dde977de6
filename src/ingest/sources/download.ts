import { setTimeout as sleep } from 'node:timers/promises';
import { describeCode, errorCode, isUntrusted, trustStep, Problem, exitCodes } from '../../domain/problem.ts';
import { requireRoom, type StagedContent } from './staging-directory.ts';

/** An answer with the bytes of a remote export. */
export interface RemoteContent {
  /** Version of the content; undefined: the server states no reliable version. */
  readonly etag: string | undefined;
  /** Size of the content; undefined: the server does not state it. */
  readonly bytes: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** An export that is not on this machine. */
export interface RemoteExport {
  /** As a person may see it. */
  readonly shown: string;
  /** @throws Problem if a retry does not help; any other error if a retry can help */
  open(signal: AbortSignal): Promise<RemoteContent>;
}

export interface DownloadLimits {
  readonly bytes: number;
  readonly seconds: number;
  /** Maximum number of failures. The pauses between retries grow from one second. */
  readonly failures: number;
  readonly firstPauseMilliseconds: number;
}

/**
 * Far above any export of contacts, and below what fills a disk by mistake; two minutes of pauses outlast a restart.
 */
export const downloadLimits: DownloadLimits = {
  bytes: 16 * 1024 ** 3,
  seconds: 2 * 3_600,
  failures: 8,
  firstPauseMilliseconds: 1_000,
};

/** A transfer that failed and is tried again. */
export interface DownloadRetry {
  /** A code, such as ECONNREFUSED. */
  readonly reason: string;
  readonly waitSeconds: number;
}

const longestPauseMilliseconds = 30_000;

/**
 * Downloads a remote export. An interrupted transfer starts again from the beginning.
 *
 * @param write stores the content, or removes what it has stored if the content ends with an error
 * @param onRetry called before each pause
 * @throws Problem `export.*`
 */
export async function download(
  remote: RemoteExport,
  write: (content: AsyncIterable<Uint8Array>) => Promise<StagedContent>,
  signal: AbortSignal | undefined,
  limits: DownloadLimits = downloadLimits,
  onRetry?: (retry: DownloadRetry) => void,
): Promise<StagedContent & { readonly etag: string | undefined }> {
  const deadline = AbortSignal.timeout(limits.seconds * 1_000);
  const ended = signal ? AbortSignal.any([signal, deadline]) : deadline;
  for (let failures = 1; ; failures += 1) {
    try {
      const content = await remote.open(ended);
      requireRoom(content.bytes ?? 0, { bytes: limits.bytes, where: remote.shown });
      return { ...(await write(wholeBody(content, ended))), etag: content.etag };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Problem) throw error;
      if (deadline.aborted || isLasting(error) || failures === limits.failures)
        throw asProblem(error, remote, deadline.aborted ? limits.seconds : undefined);
      const pause = Math.min(limits.firstPauseMilliseconds * 2 ** (failures - 1), longestPauseMilliseconds);
      onRetry?.({ reason: codeOf(error), waitSeconds: pause / 1_000 });
      // The signal ended the transfer: the next iteration throws.
      await sleep(pause, undefined, { signal: ended }).catch(() => {});
    }
  }
}

/** The bytes of the content. @throws Error if fewer come than the server states */
async function* wholeBody({ bytes, body }: RemoteContent, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let taken = 0;
  for await (const piece of body) {
    signal.throwIfAborted();
    taken += piece.length;
    yield piece;
  }
  if (bytes !== undefined && taken !== bytes) throw new Error(`${taken} bytes came of ${bytes}`);
}

/** A retry does not help until a person corrects the address. An unreachable name server has another code. */
function isLasting(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOTFOUND' || (code !== undefined && isUntrusted(code));
}

/** @param seconds the transfer took as long as it may */
function asProblem(cause: unknown, { shown: where }: RemoteExport, seconds: number | undefined): Problem {
  if (seconds !== undefined)
    return new Problem('export.too-slow', `the export was not downloaded within ${seconds} seconds`, {
      where,
      next: 'check the connection; or download the file in another way, and name its path; nothing was paid',
      cause,
    });
  const hasWrongHost = isLasting(cause);
  return new Problem(
    hasWrongHost ? 'export.host' : 'export.unreachable',
    `the export cannot be fetched: ${codeOf(cause)}`,
    {
      where,
      next: hasWrongHost
        ? `check the name of the host, ${trustStep}; nothing was paid`
        : 'check the address and the connection, and run the command again; nothing was paid',
      exitCode: hasWrongHost ? exitCodes.usage : exitCodes.failed,
      cause,
    },
  );
}

/** Only codes, because messages of HTTP clients contain whole addresses. */
function codeOf(error: unknown): string {
  const { name, message } = error as Partial<Record<'name' | 'message', unknown>>;
  const isOurs = name === 'Error' && typeof message === 'string' && !message.includes('//');
  const code = errorCode(error);
  return code === undefined ? (isOurs ? message : String(name)) : describeCode(code);
}
