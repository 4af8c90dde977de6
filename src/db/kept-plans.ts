import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { databaseErrorCode } from './postgres-errors.ts';

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

/**
 * Errors after which only another connection helps: a migration has changed the columns of a prepared statement, or
 * the server is no longer the primary server.
 */
const endingCodes = new Set(['0A000', '25006']);

/** A name for each text of a statement. Texts are few: values are parameters. */
const names = new Map<string, string>();

/**
 * A pool that prepares each statement with parameters once for each of its connections. A connection is closed
 * after an error that it would repeat.
 */
export function preparing(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => {
      const client = await pool.connect();
      let isUseless = false;
      const query = (text: string, values: readonly unknown[]): Promise<pg.QueryResult> =>
        client.query(preparedQuery(text, values)).catch((error: unknown) => {
          isUseless ||= endingCodes.has(databaseErrorCode(error) ?? '');
          throw error;
        });
      return { query, release: () => client.release(isUseless) } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

function preparedQuery(text: string, values: readonly unknown[]): pg.QueryConfig {
  if (values.length === 0) return { text };
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `statement ${names.size + 1}`));
  return { name, text, values: [...values] };
}
