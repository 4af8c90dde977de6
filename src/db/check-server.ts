import type pg from 'pg';
import { UsageProblem } from '../domain/problem.ts';
import { addressWithoutPassword } from './postgres-errors.ts';
import { clientWithTimeout, processOf } from './session-settings.ts';

/** Comparisons of the sessions of two connections: a busy pooler can give them different sessions by chance. */
const comparisons = 5;

/** A full pooler lets a connection wait for a session for minutes, without a word. */
const answerMilliseconds = 10_000;

/**
 * Refuses a server on which the product would not keep its promises.
 *
 * @throws Problem `database.too-old`, `database.encoding`, `database.pooler`, `database.pooler-full`
 */
export async function checkServer(client: pg.ClientBase, databaseUrl: string): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string; process: number }>(`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding, pg_backend_pid() as process`);
  const { version, encoding, process } = rows[0]!;
  const refuse = (type: string, what: string, next: string): UsageProblem =>
    new UsageProblem(type, what, { where: addressWithoutPassword(databaseUrl), next });
  if (version < 15)
    throw refuse('database.too-old', `PostgreSQL ${version} is too old`, 'use PostgreSQL 15 or later');
  if (encoding !== 'UTF8') {
    const next = "create the database with encoding 'UTF8' (template template0), and set DATABASE_URL to it";
    throw refuse('database.encoding', `the database stores texts in ${encoding}, not in UTF8`, next);
  }
  // A pooler invents the number, because its client has no process of the server for itself.
  const { processID } = client as unknown as { readonly processID: number };
  if (processID === process) return;
  const changes = await changesSessions(client, databaseUrl).catch((error: unknown) => {
    if ((error as Error).message !== 'Query read timeout') throw error;
    const what = `the pooler gave a second connection no session within ${answerMilliseconds / 1_000} s`;
    throw refuse(
      'database.pooler-full',
      what,
      'give the pool more sessions: docs/production.md says how many are needed',
    );
  });
  if (!changes) return;
  const next = 'let the pooler use session mode for this database and user, or connect to PostgreSQL itself';
  throw refuse('database.pooler', 'a pooler gives each transaction another session', next);
}

/** Whether a connection changes its session of the server, or shares it with another connection. */
async function changesSessions(one: pg.ClientBase, databaseUrl: string): Promise<boolean> {
  const other = clientWithTimeout(databaseUrl, answerMilliseconds);
  await other.connect();
  try {
    const first = await processOf(one);
    for (let comparison = 0; comparison < comparisons; comparison += 1) {
      if ((await processOf(other)) === first || (await processOf(one)) !== first) return true;
    }
    return false;
  } finally {
    // Its end waits for the server.
    void other.end();
  }
}
