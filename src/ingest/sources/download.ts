import { setTimeout as sleep } from 'node:timers/promises';
import {
  describeErrorCode,
  errorCode,
  isTlsTrustError,
  tlsTrustAdvice,
  Problem,
} from '../../domain/problem.ts';

export interface RemoteExport {
  /** Name of the export for messages, without secrets. */
  readonly shown: string;
  /** Opens the content of the export. @throws Problem if a retry cannot help, and any other error if it can */
  open(signal: AbortSignal | undefined): Promise<AsyncIterable<Uint8Array>>;
}

/** Pauses before the retries. Together they outlast the restart of a server. */
const pauses: readonly number[] = [1_000, 5_000, 15_000, 40_000];

/** Downloads an export. A retry begins again, so `write` removes what it has stored. @throws Problem `export.*` */
export async function download<Stored>(
  remote: RemoteExport,
  write: (content: AsyncIterable<Uint8Array>) => Promise<Stored>,
  signal: AbortSignal | undefined,
  retryPauses = pauses,
): Promise<Stored> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await write(await remote.open(signal));
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Problem) throw error;
      const pause = retryPauses[failures];
      const code = errorCode(error) ?? '';
      // Only another host name or certificate can help after these errors. An unreachable name server has another code.
      if (pause === undefined || code === 'ENOTFOUND' || isTlsTrustError(code))
        throw unreachable(error, remote);
      await sleep(pause, undefined, { signal });
    }
  }
}

function unreachable(cause: unknown, { shown: where }: RemoteExport): Problem {
  return new Problem('export.unreachable', `the export cannot be fetched: ${codeOf(cause)}`, {
    where,
    next: `check the address, the connection, ${tlsTrustAdvice}, and run the command again; nothing was paid`,
    cause,
  });
}

/** Names an error for the log. Messages of HTTP clients contain URLs with secrets, so only codes are logged. */
function codeOf(error: unknown): string {
  const { name, message } = error as Partial<Record<'name' | 'message', unknown>>;
  const isOurs = name === 'Error' && typeof message === 'string' && !message.includes('//');
  const code = errorCode(error);
  return code === undefined ? (isOurs ? message : String(name)) : describeErrorCode(code);
}
