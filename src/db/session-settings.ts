import pg, { type ClientBase, type QueryConfig } from 'pg';

/** The schema of the tables that docs/reference/tables.md describes and that analysts read. */
export const schemaName = 'enrichment';

/** The schema of queues, locks, keys, stored bodies and the observation log. */
export const internalSchemaName = 'enrichment_internal';

/** Settings of every session. Defaults of a role, database or DATABASE_URL could change meanings or formats. */
const sessionSettings: Readonly<Record<string, string>> = {
  // Unqualified names mean the product's tables, whatever search path the role has.
  search_path: `${schemaName},${internalSchemaName},pg_catalog`,
  timezone: 'UTC',
  // The driver cannot read dates in other styles.
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // With `off`, an absent element of a list would become the text NULL.
  array_nulls: 'on',
  // With `off`, a backslash would change the meaning of the next character.
  standard_conforming_strings: 'on',
  // Stricter isolation makes calls fail instead of waiting for each other, and runs took three to six times as long.
  default_transaction_isolation: 'read committed',
  // Just-in-time compilation in PostgreSQL 15 took 50 ms per call, for statements that run 20 ms.
  jit: 'off',
  // With these values, the server notices a lost client within a minute and releases its locks.
  tcp_keepalives_idle: '20',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '60000',
};

/**
 * Settings for processes that keep plans. PostgreSQL then plans a statement once per session, for all values, and with
 * indexes even if the tables were small at that time. The statements of calls take longer to plan than to execute.
 */
export const stablePlanSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** Maximum wait for an answer of the server after connecting. The server has just accepted the connection. */
const answerMilliseconds = 10_000;

/** Applies the session settings. Poolers refuse the startup parameter `options`, and DATABASE_URL can replace it. */
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

/** Reads the process id of a connection from PostgreSQL. Behind a pooler, `client.processID` is invented. */
export async function readBackendPid(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ process: number }>('select pg_backend_pid() as process');
  return rows[0]!.process;
}

/** Types `onConnect` of a pool, which waits for the returned promise although its type has none. */
export function afterConnect(work: (client: ClientBase) => unknown): (client: ClientBase) => unknown {
  return work;
}

/** Creates an unconnected client. Its connection and statements fail after this time without an answer. */
export function createClientWithTimeout(connectionString: string, milliseconds: number): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'enrich',
    connectionTimeoutMillis: milliseconds,
    query_timeout: milliseconds,
  });
  // Statements report the error themselves. Without a listener, the event would end the process.
  client.on('error', () => undefined);
  return client;
}
