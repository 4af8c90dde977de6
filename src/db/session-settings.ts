import type { ClientBase, QueryConfig } from 'pg';

/** The schema that all tables live in. */
export const schemaName = 'enrichment';

/**
 * Settings of every session of the product. A role, a database or DATABASE_URL can have other defaults, which change
 * what statements mean, or what their results look like.
 */
const sessionSettings: Readonly<Record<string, string>> = {
  // Unqualified names mean the product's tables, whatever search path the role has.
  search_path: `${schemaName},pg_catalog`,
  timezone: 'UTC',
  // Other styles come as texts that the driver reads as no date.
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // Otherwise an absent element of a list is the text NULL.
  array_nulls: 'on',
  // Otherwise a backslash in a text changes the character after it.
  standard_conforming_strings: 'on',
  // Stricter isolation makes calls fail that otherwise wait for each other: runs took three to six times as long.
  default_transaction_isolation: 'read committed',
  // Compiling a statement on the rows of one call took 50 ms of each call with PostgreSQL 15, and its work 20 ms.
  jit: 'off',
};

/** A new connection belongs to a server that has just answered. */
const answerMilliseconds = 10_000;

/** A session of the server: a process with this number that starts after this time is another session. */
export interface SessionId {
  readonly process: number;
  /** By the server's clock, in seconds, as text. */
  readonly seenAt: string;
}

/**
 * Sets the settings of a session, after the connection: poolers such as PgBouncer refuse the startup parameter
 * `options`, and `options` in DATABASE_URL would replace it.
 */
export async function applySessionSettings(
  client: ClientBase,
  more: Readonly<Record<string, string>> = {},
): Promise<SessionId> {
  const settings = { ...sessionSettings, ...more };
  const query: QueryConfig & { readonly query_timeout: number } = {
    text: `select pg_catalog.set_config(name, value, false), pg_backend_pid() as process,
        extract(epoch from clock_timestamp())::text as "seenAt"
      from unnest($1::text[], $2::text[]) as s (name, value)`,
    values: [Object.keys(settings), Object.values(settings)],
    query_timeout: answerMilliseconds,
  };
  return (await client.query<SessionId>(query)).rows[0]!;
}

/** The process of the server for a connection. Behind a pooler, `client.processID` is an invented number. */
export async function processOf(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ process: number }>('select pg_backend_pid() as process');
  return rows[0]!.process;
}

/** The option `onConnect` of a pool, which waits for the promise although its type says otherwise. */
export function afterConnect(work: (client: ClientBase) => unknown): (client: ClientBase) => unknown {
  return work;
}
