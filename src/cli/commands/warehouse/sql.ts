import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command, Option } from 'commander';
import pg from 'pg';
import { schemaName } from '../../../db/database.ts';
import { addressWithoutPassword } from '../../../db/postgres-errors.ts';
import { findProgram } from '../../../dev/find-program.ts';
import { embeddedDirectories } from '../../../dev/stack.ts';
import { Problem, exitCodes } from '../../../domain/problem.ts';
import { counted } from '../../../domain/text/counted.ts';
import { withWarehouse, type Session } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';
import { print, printJson, table } from '../../terminal/output.ts';

/** PostgreSQL's code for a statement that would write. */
const readOnly = '25006';

/** `enrich sql` */
export function sqlCommand(): Command {
  return withSettings(new Command('sql'))
    .description('Query the warehouse: open psql, or print the rows of one statement.')
    .addOption(
      new Option(
        '-c, --command <sql>',
        'print the rows of a statement that only reads; needs no psql',
      ).conflicts('json'),
    )
    .option('--json', 'print the address as a JSON object, without a password, and open nothing')
    .addHelpText(
      'after',
      `
Tables are found without the prefix enrichment. docs/warehouse.md has questions with their SQL.

Examples:
  enrich sql
  enrich sql --command 'select source, count(*) from enriched_contacts group by 1'`,
    )
    .action(async (options: { json?: boolean; command?: string }) => {
      await withWarehouse(settingsOf(options), async (session) => {
        if (options.command !== undefined) return print(await rowsOf(session, options.command));
        const psql = findProgram('psql');
        const address = addressWithoutPassword(session.stack.databaseUrl);
        if (options.json === true) printJson<'sql'>({ address, schema: schemaName, psql: psql ?? null });
        else if (psql === undefined) print(howToConnect(session, address));
        else process.exitCode = await openPsql(psql, session.stack.databaseUrl);
      });
    });
}

/**
 * Runs a statement that only reads and formats its rows as a table, values in PostgreSQL's text form.
 *
 * @throws Problem `sql.refused`
 */
async function rowsOf({ warehouse }: Session, statement: string): Promise<string> {
  const client = await warehouse.pool.connect();
  try {
    await client.query('set default_transaction_read_only = on');
    // PostgreSQL accepts several statements in a query without parameters, and pg then returns a list.
    const answers = [
      await client.query<string[]>({
        text: statement,
        rowMode: 'array',
        types: { getTypeParser: () => (text: string) => text },
      }),
    ].flat();
    const { fields, rows, rowCount, command } = answers.at(-1)!;
    const count = counted(rowCount ?? 0, 'row');
    if (fields.length === 0) return rowCount === null ? command : `${command}: ${count}`;
    const cells = [fields.map(({ name }) => name), ...rows.map((row) => row.map((value) => value ?? ''))];
    return `${table(cells)}\n${count}`;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new Problem('sql.refused', error.message, {
      where: `--command${error.position === undefined ? '' : `, character ${error.position}`}`,
      next:
        error.code === readOnly
          ? 'enrich sql without --command opens psql, which can write'
          : (error.hint ?? 'docs/warehouse.md has the tables and questions with their SQL'),
      exitCode: exitCodes.usage,
    });
  } finally {
    client.release(true);
  }
}

function howToConnect({ stack, config }: Session, address: string): string {
  const { postgres } = embeddedDirectories(config.embedded.dataDirectory);
  const password = stack.embedded.postgres ? `the content of ${postgres}/password` : 'as in DATABASE_URL';
  return [
    'psql is not installed. Connect any PostgreSQL client while enrich dev or another command runs:',
    `  address   ${address}`,
    `  password  ${password}`,
    `  schema    ${schemaName}`,
  ].join('\n');
}

/**
 * Opens psql. The password goes through the environment, which other users of the machine cannot read.
 *
 * @returns psql's exit code
 */
async function openPsql(psql: string, databaseUrl: string): Promise<number> {
  const url = new URL(databaseUrl);
  const { PGOPTIONS: options = '' } = process.env;
  const env = {
    ...process.env,
    ...(url.password !== '' && { PGPASSWORD: decodeURIComponent(url.password) }),
    PGOPTIONS: `${options} -c search_path=${schemaName},public`.trim(),
  };
  url.password = '';
  const [code] = (await once(spawn(psql, [url.href], { stdio: 'inherit', env }), 'close')) as [number | null];
  return code ?? 1;
}
