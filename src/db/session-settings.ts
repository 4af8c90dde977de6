import pg, { type ClientBase, type QueryConfig } from 'pg';

/** The schema of the tables that docs/reference/tables.md describes, and that analysts read. */
export const schemaName = 'enrichment';

/** The schema of queues, locks, keys, bytes and the log. */
export const internalSchemaName = 'enrichment_internal';

/**
 * Settings of every session of the product. The defaults of a role, a database or DATABASE_URL could change the meaning
 * of statements or the form of results.
 */
const sessionSettings: Readonly<Record<string, string>> = {
  // Unqualified names mean the product's tables, whatever search path the role has.
  search_path: `${schemaName},${internalSchemaName},pg_catalog`,
  timezone: 'UTC',
  // The driver does not read other styles as dates.
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // Otherwise an absent element of a list is the text NULL.
  array_nulls: 'on',
  // Otherwise a backslash changes the meaning of the next character.
  standard_conforming_strings: 'on',
  // Stricter isolation makes calls fail instead of waiting for each other, and runs took three to six times as long.
  default_transaction_isolation: 'read committed',
  // With PostgreSQL 15, compiling a statement took 50 ms of each call, and its execution 20 ms.
  jit: 'off',
  // The server finds out within a minute that a client is gone, and frees its locks.
  tcp_keepalives_idle: '20',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '60000',
};

/**
 * With these settings PostgreSQL plans a statement once per session, for all values, and with indexes even if the
 * tables were small then. For the statements of calls, which take longer to plan than to execute.
 */
export const keptPlanSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** A new connection is opened only after the server has just answered. */
const answerMilliseconds = 10_000;

/**
 * Sets the settings of a session after connecting. Poolers such as PgBouncer refuse the startup parameter `options`,
 * and `options` in DATABASE_URL would replace it.
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

/** Asks PostgreSQL for the process id of a connection. Behind a pooler, `client.processID` is invented. */
export async function readBackendPid(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ process: number }>('select pg_backend_pid() as process');
  return rows[0]!.process;
}

/** The option `onConnect` of a pool, which waits for the promise although its type says otherwise. */
export function afterConnect(work: (client: ClientBase) => unknown): (client: ClientBase) => unknown {
  return work;
}

/** A separate client, not connected yet. Its connection and statements fail if there is no answer in this time. */
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
