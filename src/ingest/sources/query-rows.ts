import type { Pool, PoolClient, QueryConfig } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { readBackendPid } from '../../db/session-settings.ts';
import { UsageProblem } from '../../domain/problem.ts';

/** Maximum duration of a query, because a long transaction holds back the vacuum of the whole database. */
const longestMinutes = 30;

/** Reads the rows of a query as CSV, sorted so that equal rows have an equal hash. @throws Problem `export.query` */
export async function* rowsOfQuery(pool: Pool, query: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const client = await pool.connect();
  let cancel = (): void => {};
  try {
    await client.query('begin transaction isolation level repeatable read, read only');
    const process = await readBackendPid(client);
    // PostgreSQL would otherwise sort all rows although no one reads them.
    cancel = () => void pool.query('select pg_cancel_backend($1)', [process]).catch(() => {});
    signal?.addEventListener('abort', cancel);
    await client.query(`set local statement_timeout = '${longestMinutes}min'`);
    // The warehouse's own search path is reset, so that unqualified names mean the operator's tables.
    await client.query('set local search_path to "$user", public');
    const statement = await statementOf(client, query);
    signal?.throwIfAborted();
    for await (const piece of client.query(copyTo(statement)) as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
      yield piece;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw asProblem(error);
  } finally {
    signal?.removeEventListener('abort', cancel);
    // A connection within a COPY cannot be reused.
    client.release(true);
  }
}

/** Makes the COPY of a query. @throws the error of the database unless the text is one statement that reads */
async function statementOf(client: PoolClient, sql: string): Promise<string> {
  const query = sql.trim().replace(/(?:\s*;)+$/, '');
  // A cursor accepts one statement, which reads, so text cannot close the parentheses below and leave the transaction.
  const declaration: QueryConfig & { readonly queryMode: 'extended' } = {
    text: `declare enrich_rows cursor for ${query}\n`,
    queryMode: 'extended',
  };
  await client.query(declaration);
  await client.query('close enrich_rows');
  // Rows are sorted by their whole text, byte by byte. This works for every table and is independent of the locale.
  const sorted = `select * from (${query}\n) as "enrich row" order by "enrich row"::text collate "C"`;
  return `copy (${sorted}) to stdout with (format csv, header true)`;
}

/** Turns an error of the query into a Problem. Errors in the middle of the rows quote cells, so those are hidden. */
function asProblem(error: unknown): unknown {
  const { code, message = '' } = error as { code?: unknown; message?: string };
  // Classes of errors that the query causes, such as 42 (names and syntax), 25 (writes) and 57014 (timeout).
  if (typeof code !== 'string' || !/^(?:42|25|22|0A|34|57014|P0|54)/.test(code)) return error;
  const reason = /^(?:42|25|0A)/.test(code) ? message : `error ${code}`;
  const timedOut = code === '57014' ? `, which has no rows after ${longestMinutes} minutes` : '';
  return new UsageProblem('export.query', `the database refuses the query${timedOut}: ${reason}`, {
    where: 'query',
    next: 'write one SELECT that the user of DATABASE_URL may run, and that returns in time; try it in psql',
    cause: error,
  });
}
