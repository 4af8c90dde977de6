import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { keptPlanSettings, preparing } from './kept-plans.ts';
import { LostConnections } from './lost-connections.ts';
import type { Tables } from './schema.ts';
import { afterConnect, applySessionSettings } from './session-settings.ts';

export interface Warehouse {
  /** Typed queries; every table name is looked up in the schema `enrichment`. */
  readonly database: Kysely<Tables>;
  /** For COPY and for statements that the query builder cannot express. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export interface WarehouseOptions {
  readonly connections?: number;
  /** Maximum wait for a connection, whether new or from the pool. */
  readonly connectMilliseconds?: number;
  /** Timeout of a query: a silent server would otherwise hold every connection forever. */
  readonly queryMilliseconds?: number;
  /** Name of this process in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** Prepares statements and keeps their plans, for the same few statements on the rows of each call. */
  readonly keepsPlans?: boolean;
  /** Ends a transaction whose process stops in the middle of it, because others wait for its locks. */
  readonly idleTransactionMilliseconds?: number;
  /** How long a statement waits for its answer before its session is looked at; 30 s by default. */
  readonly lostAfterMilliseconds?: number;
  /** Called when an idle connection breaks, such as at a server's restart. */
  readonly onIdleError?: (error: Error) => void;
}

/**
 * Opens a pool on the warehouse, which connects at the first query.
 *
 * @param databaseUrl a PostgreSQL address, version 15 or later
 */
export function openWarehouse(databaseUrl: string, options: WarehouseOptions = {}): Warehouse {
  const lost = new LostConnections(databaseUrl, options.lostAfterMilliseconds ?? 30_000);
  const settings = {
    ...(options.keepsPlans && keptPlanSettings),
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
    onConnect: afterConnect(async (client) =>
      lost.watch(client, await applySessionSettings(client, settings)),
    ),
  });
  // Without a listener, a restart of the server (57P01) ends the process. Errors are expected while the pool closes.
  pool.on('error', (error) => {
    if (!pool.ending) options.onIdleError?.(error);
  });
  // A connection in use also emits an event that would end the process. Its query reports the error.
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: options.keepsPlans ? preparing(pool) : pool }),
  });
  return {
    database,
    pool,
    close: async () => {
      lost.close();
      await database.destroy();
      // Kysely ends a pool only if a query has used the pool.
      if (!pool.ended) await pool.end();
    },
  };
}
