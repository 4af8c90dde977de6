import type { Socket } from 'node:net';
import type pg from 'pg';
import { clientWithTimeout } from './client-with-timeout.ts';
import type { SessionId } from './session-settings.ts';

interface Watched extends SessionId {
  readonly client: pg.Client;
  /** Since when the connection waits for answers; undefined: it has them all. */
  waitingSince: number | undefined;
  /** What the socket had read at the last look. */
  bytesRead: number;
}

/**
 * Ends connections whose session no longer works on their statement. A failover, a firewall or a proxy can lose a
 * connection without closing it. Its statement would wait forever, with a paid answer, and its session keeps locks.
 */
export class LostConnections {
  readonly #databaseUrl: string;
  readonly #afterMilliseconds: number;
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;
  #isChecking = false;

  /** @param afterMilliseconds how long a statement waits for its answer before its session is looked at */
  constructor(databaseUrl: string, afterMilliseconds: number) {
    this.#databaseUrl = databaseUrl;
    this.#afterMilliseconds = afterMilliseconds;
    this.#timer = setInterval(() => void this.#check(), afterMilliseconds / 2).unref();
  }

  watch(client: pg.ClientBase, session: SessionId): void {
    const watched: Watched = {
      ...session,
      client: client as pg.Client,
      waitingSince: undefined,
      bytesRead: 0,
    };
    this.#watched.add(watched);
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    client.query = ((...parameters: unknown[]) => {
      watched.waitingSince ??= performance.now();
      return query(...parameters);
    }) as typeof client.query;
    client.on('drain', () => (watched.waitingSince = undefined));
    client.on('end', () => this.#watched.delete(watched));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Connections that wait, and of which nothing has arrived since the last look. Slow readers have unread bytes. */
  #suspects(): Watched[] {
    const suspectBefore = performance.now() - this.#afterMilliseconds;
    return [...this.#watched].filter((watched) => {
      const { waitingSince = Infinity, client } = watched;
      const { bytesRead, readableLength } = (client as unknown as { connection: { stream: Socket } })
        .connection.stream;
      const isSilent = bytesRead === watched.bytesRead && readableLength === 0;
      watched.bytesRead = bytesRead;
      return isSilent && waitingSince < suspectBefore;
    });
  }

  async #check(): Promise<void> {
    if (this.#isChecking || this.#suspects().length === 0) return;
    this.#isChecking = true;
    const client = clientWithTimeout(this.#databaseUrl, 10_000);
    try {
      await client.connect();
      // Answers may have arrived meanwhile, such as those for a process that was suspended.
      const lost = await endIdle(client, this.#suspects(), this.#afterMilliseconds / 2);
      for (const suspect of this.#suspects()) if (lost.has(suspect.process)) void suspect.client.end();
    } catch {
      // The server does not answer. The next check follows.
    } finally {
      // Its end waits for the server.
      void client.end();
      this.#isChecking = false;
    }
  }
}

/**
 * Ends those sessions that wait for us for that long: the answer of a session that has just become idle is on its way.
 *
 * @returns the processes of these and of sessions that no longer exist
 */
async function endIdle(
  client: pg.Client,
  sessions: readonly SessionId[],
  idleMilliseconds: number,
): Promise<ReadonlySet<number>> {
  // A role that the login has taken does not see the login's sessions.
  await client.query('set role none');
  const { rows } = await client.query<{ process: number }>(
    `select s.process, pg_terminate_backend(a.pid)
    from unnest($1::integer[], $2::numeric[]) as s (process, seen_at)
    left join pg_stat_activity a on a.pid = s.process and extract(epoch from a.backend_start) <= s.seen_at
    where a.pid is null
      or (a.state like 'idle%' and a.state_change < clock_timestamp() - $3 * interval '1 millisecond')`,
    [sessions.map(({ process }) => process), sessions.map(({ seenAt }) => seenAt), idleMilliseconds],
  );
  return new Set(rows.map(({ process }) => process));
}
