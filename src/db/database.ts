import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Tables } from './schema.ts';

/** The schema that all tables live in. */
export const schemaName = 'enrichment';

export interface Warehouse {
  /** Typed queries; every table name is looked up in the schema `enrichment`. */
  readonly database: Kysely<Tables>;
  /** For COPY and for statements that the query builder cannot express. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export interface WarehouseOptions {
  /** The most connections that this process keeps. */
  readonly connections?: number;
  /** How long to wait for a connection, one that is free included. */
  readonly connectMilliseconds?: number;
  /** Timeout of an answer: a reachable server that is silent would otherwise hold every connection forever. */
  readonly queryMilliseconds?: number;
  /** What PostgreSQL calls this process in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** Told when a resting connection breaks, such as at a server's restart. */
  readonly onIdleError?: (error: Error) => void;
}

/**
 * Opens a pool on the warehouse; connections are made when first used.
 *
 * @param databaseUrl a PostgreSQL address, version 15 or later
 */
export function openWarehouse(databaseUrl: string, options: WarehouseOptions = {}): Warehouse {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.connections ?? 10,
    ...(options.queryMilliseconds !== undefined && { query_timeout: options.queryMilliseconds }),
    application_name: options.applicationName ?? 'enrich',
    connectionTimeoutMillis: options.connectMilliseconds ?? 10_000,
    // Unqualified names are ours, and a search path of the role cannot redirect them.
    options: `-c search_path=${schemaName},pg_catalog -c timezone=UTC`,
  });
  // Without a listener a server restart (57P01) takes the whole process down. A server that stops while connections are
  // being ended says so to each of them: that is no news.
  pool.on('error', (error) => {
    if (!pool.ending) options.onIdleError?.(error);
  });
  // The same of a connection that is in use: its query fails by itself, and the event alone would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    database,
    pool,
    close: async () => {
      await database.destroy();
      // Kysely ends a pool only where it has used it.
      if (!pool.ended) await pool.end();
    },
  };
}
