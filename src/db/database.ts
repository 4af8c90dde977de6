import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type Transaction,
} from 'kysely';
import pg from 'pg';
import { databaseErrorCode, isDatabaseUnreachable } from './postgres-errors.ts';
import type { Tables } from './schema.ts';
import { afterConnect, applySessionSettings, stablePlanSettings } from './session-settings.ts';

/** A connected PostgreSQL database with the tables of the product. */
export interface Warehouse {
  /** Query builder with types of all tables. Unqualified names mean tables of the schema `enrichment`. */
  readonly database: Kysely<Tables>;
  /** Pool for COPY and for statements that the query builder cannot express. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export interface WarehouseOptions {
  readonly connections?: number;
  /** Maximum wait for a connection, whether new or from the pool. */
  readonly connectMilliseconds?: number;
  /** Timeout of a query. Without it, a server that stops answering would hold every connection forever. */
  readonly queryMilliseconds?: number;
  /** Name of this process in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** True for a process, such as a worker, that runs the same few statements again and keeps their plans. */
  readonly keepsPlans?: boolean;
  /** PostgreSQL ends an idle transaction after this time, because other transactions wait for its locks. */
  readonly idleTransactionMilliseconds?: number;
  /** Called when an idle connection breaks, for example at a restart of the server. */
  readonly onIdleError?: (error: Error) => void;
}

/** Opens a pool on a PostgreSQL database, version 15 or later. The pool connects at the first query. */
export function openWarehouse(databaseUrl: string, options: WarehouseOptions = {}): Warehouse {
  const settings = {
    ...(options.keepsPlans && stablePlanSettings),
    ...(options.idleTransactionMilliseconds !== undefined && {
      idle_in_transaction_session_timeout: String(options.idleTransactionMilliseconds),
    }),
  };
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.connections ?? 10,
    ...(options.queryMilliseconds !== undefined && { query_timeout: options.queryMilliseconds }),
    application_name: options.applicationName ?? 'enrich',
    connectionTimeoutMillis: options.connectMilliseconds ?? 10_000,
    // Keep-alive detects a connection that a failover, a firewall or a proxy has dropped silently.
    keepAlive: true,
    keepAliveInitialDelayMillis: 20_000,
    onConnect: afterConnect((client) => applySessionSettings(client, settings)),
  });
  // Without a listener, a restart of the server (57P01) ends the process. Errors are expected while the pool closes.
  pool.on('error', (error) => {
    if (!pool.ending) options.onIdleError?.(error);
  });
  // A connection in use also emits an error event, which would end the process. The query of this connection reports
  // the error.
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: closingUseless(pool, options.keepsPlans === true) }),
  });
  return {
    database,
    pool,
    close: async () => {
      await database.destroy();
      // Kysely ends a pool only if a query has used the pool.
      if (!pool.ended) await pool.end();
    },
  };
}

/** Previews a change: makes the change in a transaction and rolls it back. */
export async function inRolledBackTransaction<Result>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const transaction = await database.startTransaction().execute();
  try {
    return await work(transaction);
  } finally {
    await transaction.rollback().execute();
  }
}

/** Errors that a new connection resolves: a migration changed columns, or the server is no longer primary. */
const endingCodes = new Set(['0A000', '25006']);

/**
 * Returns a pool that closes a connection after an error that it would repeat, such as an unreachable server.
 *
 * @param prepares true: statements are prepared and keep their plans
 */
function closingUseless(pool: pg.Pool, prepares: boolean): PostgresPool {
  return {
    connect: async () => {
      const client = await pool.connect();
      let isUseless = false;
      const query = (text: string | object, values: readonly unknown[] = []): unknown => {
        // A cursor is not a promise and reports its errors itself.
        if (typeof text !== 'string') return client.query(text as pg.QueryConfig);
        return client.query(preparedQuery(text, values, prepares)).catch((error: unknown) => {
          isUseless ||= isDatabaseUnreachable(error) || endingCodes.has(databaseErrorCode(error) ?? '');
          throw error;
        });
      };
      return { query, release: () => client.release(isUseless) } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

/** Names of prepared statements by their text. There are few texts, because values are parameters. */
const names = new Map<string, string>();

/** Gives a query with parameters a name, so that PostgreSQL parses and plans its text once per connection. */
function preparedQuery(text: string, values: readonly unknown[], prepares: boolean): pg.QueryConfig {
  if (values.length === 0 || !prepares) return { text, values: [...values] };
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `statement ${names.size + 1}`));
  return { name, text, values: [...values] };
}

/** Rows from which a table needs statistics. Without them, PostgreSQL replaced a hash join by slow nested loops. */
export const minRowsToAnalyze = 1_000;
