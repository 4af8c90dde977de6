import pg from 'pg';
import type { SessionId } from './session-settings.ts';

interface Watched extends SessionId {
  /** Since when the connection waits for answers; undefined: it has them all. */
  waitingSince: number | undefined;
}

/**
 * Ends connections whose session no longer works on their statement. A failover, a firewall or a proxy can lose a
 * connection without closing it. Its statement would wait forever, with a paid answer, and its session keeps locks.
 */
export class LostConnections {
  readonly #databaseUrl: string;
  readonly #afterMilliseconds: number;
  readonly #watched = new Map<pg.ClientBase, Watched>();
  readonly #timer: NodeJS.Timeout;
  #isChecking = false;

  /** @param afterMilliseconds how long a statement waits for its answer before its session is looked at */
  constructor(databaseUrl: string, afterMilliseconds: number) {
    this.#databaseUrl = databaseUrl;
    this.#afterMilliseconds = afterMilliseconds;
    this.#timer = setInterval(() => void this.#check(), afterMilliseconds / 2).unref();
  }

  watch(client: pg.ClientBase, session: SessionId): void {
    const watched: Watched = { ...session, waitingSince: undefined };
    this.#watched.set(client, watched);
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    client.query = ((...parameters: unknown[]) => {
      watched.waitingSince ??= performance.now();
      return query(...parameters);
    }) as typeof client.query;
    client.on('drain', () => (watched.waitingSince = undefined));
    client.on('end', () => this.#watched.delete(client));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const suspectBefore = performance.now() - this.#afterMilliseconds;
    const suspects = [...this.#watched].filter(
      ([, { waitingSince = Infinity }]) => waitingSince < suspectBefore,
    );
    if (this.#isChecking || suspects.length === 0) return;
    this.#isChecking = true;
    try {
      const asked = suspects.map(([client, watched]) => ({ client, watched, since: watched.waitingSince }));
      const lost = await this.#endIdle(asked.map(({ watched }) => watched));
      for (const { client, watched, since } of asked)
        // An answer may have arrived meanwhile.
        if (lost.has(watched.process) && watched.waitingSince === since) void (client as pg.Client).end();
    } catch {
      // The server does not answer. The next check follows.
    } finally {
      this.#isChecking = false;
    }
  }

  /** Ends those sessions that wait for us. @returns the processes of these and of sessions that no longer exist */
  async #endIdle(sessions: readonly SessionId[]): Promise<ReadonlySet<number>> {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      application_name: 'enrich',
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ process: number }>(
        `select s.process, pg_terminate_backend(a.pid)
        from unnest($1::integer[], $2::text[]) as s (process, started)
        left join pg_stat_activity a on a.pid = s.process and extract(epoch from a.backend_start)::text = s.started
        where a.pid is null or a.state like 'idle%'`,
        [sessions.map(({ process }) => process), sessions.map(({ started }) => started)],
      );
      return new Set(rows.map(({ process }) => process));
    } finally {
      await client.end();
    }
  }
}
