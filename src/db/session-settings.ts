import pg, { type ClientBase, type QueryConfig } from 'pg';

/** The schema of the tables that docs/reference/tables.md describes, and that analysts read. */
export const schemaName = 'enrichment';

/** The schema of queues, locks, keys, bytes and the log. */
export const internalSchemaName = 'enrichment_internal';

/**
 * Settings of every session of the product. A role, a database or DATABASE_URL can have other defaults, which change
 * what statements mean, or what their results look like.
 */
const sessionSettings: Readonly<Record<string, string>> = {
  // Unqualified names mean the product's tables, whatever search path the role has.
  search_path: `${schemaName},${internalSchemaName},pg_catalog`,
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
  // The server finds out within a minute that a client is gone, and frees its locks.
  tcp_keepalives_idle: '20',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '60000',
};

/**
 * Settings under which PostgreSQL plans a statement once a session, for all values, and always with indexes, even if
 * the tables were small at that time. For statements on the rows of one call: planning takes longer than their work.
 */
export const keptPlanSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** A new connection belongs to a server that has just answered. */
const answerMilliseconds = 10_000;

/**
 * Sets the settings of a session, after the connection: poolers such as PgBouncer refuse the startup parameter
 * `options`, and `options` in DATABASE_URL would replace it.
 */
export async function applySessionSettings(
  client: ClientBase,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const settings = { ...sessionSettings, ...more };
  const query: QueryConfig & { readonly query_timeout: number } = {
    text: `select pg_catalog.set_config(name, value, false) from unnest($1::text[], $2::text[]) as s (name, value)`,
    values: [Object.keys(settings), Object.values(settings)],
    query_timeout: answerMilliseconds,
  };
  await client.query(query);
}

/** Asks PostgreSQL for the id of its process for a connection. Behind a pooler, `client.processID` is invented. */
export async function readBackendPid(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ process: number }>('select pg_backend_pid() as process');
  return rows[0]!.process;
}

/** The option `onConnect` of a pool, which waits for the promise although its type says otherwise. */
export function afterConnect(work: (client: ClientBase) => unknown): (client: ClientBase) => unknown {
  return work;
}

/** A client of its own, not connected yet, whose connection and statements fail without an answer in this time. */
export function clientWithTimeout(connectionString: string, milliseconds: number): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'enrich',
    connectionTimeoutMillis: milliseconds,
    query_timeout: milliseconds,
  });
  // The statements fail too; without a listener the event would end the process.
  client.on('error', () => undefined);
  return client;
}
