import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Command } from 'commander';
import { schemaName } from '../../../db/database.ts';
import { addressWithoutPassword } from '../../../db/postgres-errors.ts';
import { embeddedDirectories } from '../../../dev/stack.ts';
import { withSession, type Session } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';
import { print, printJson } from '../../terminal/output.ts';

/** `enrich sql` */
export function sqlCommand(): Command {
  return withSettings(new Command('sql'))
    .description('Open psql on the warehouse, or print its address where psql is not installed.')
    .option('--json', 'print the address as a JSON object, without a password, and open nothing')
    .addHelpText(
      'after',
      `
Tables are found without the prefix enrichment. docs/warehouse.md has ten questions with their SQL.

Examples:
  enrich sql
  echo 'select count(*) from enriched_contacts' | enrich sql`,
    )
    .action(async (options: { json?: boolean }) => {
      await withSession(settingsOf(options), { temporal: false, service: false }, async (session) => {
        const psql = findOnPath('psql');
        const address = addressWithoutPassword(session.stack.databaseUrl);
        if (options.json === true) printJson<'sql'>({ address, schema: schemaName, psql: psql ?? null });
        else if (psql === undefined) print(howToConnect(session, address));
        else process.exitCode = await openPsql(psql, session.stack.databaseUrl);
      });
    });
}

function findOnPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
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
 * The password goes through the environment, which other users of the machine cannot read.
 *
 * @returns psql's exit code
 */
function openPsql(psql: string, databaseUrl: string): Promise<number> {
  const url = new URL(databaseUrl);
  const { PGOPTIONS: options = '' } = process.env;
  const env = {
    ...process.env,
    ...(url.password !== '' && { PGPASSWORD: decodeURIComponent(url.password) }),
    PGOPTIONS: `${options} -c search_path=${schemaName},public`.trim(),
  };
  url.password = '';
  return new Promise((resolve, reject) => {
    const child = spawn(psql, [url.href], { stdio: 'inherit', env });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
