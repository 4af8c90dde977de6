import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command } from '../../terminal/command.ts';
import pg from 'pg';
import { schemaName } from '../../../db/session-settings.ts';
import { addressWithoutPassword } from '../../../db/postgres-errors.ts';
import { findProgram } from '../../../config/command-environment.ts';
import { onInterruption } from '../../../dev/interruption.ts';
import { UsageProblem, exitCodes } from '../../../domain/problem.ts';
import { counted } from '../../../domain/text/counted.ts';
import { decodePercent } from '../../../domain/text/decode-percent.ts';
import { withWarehouse, type Session } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';
import { print, printJson, recordTable } from '../../terminal/output.ts';

/** PostgreSQL's codes for a statement that would write, and for one that asks for a transaction that writes. */
const readOnly: ReadonlySet<string | undefined> = new Set(['25006', '25001']);
/** Where a piece is no whole statement after all, PostgreSQL refuses the piece: it has several statements, or none. */
const pieces =
  /(?:\be'(?:\\.|[^\\'])*'|'[^']*'|"[^"]*"|(\$(?:[a-z_]\w*)?\$).*?\1|--[^\n]*|\/\*.*?\*\/|[^;])+/gis;
/** Of views, PostgreSQL refuses such a statement before it looks at the transaction, with a hint for their owner. */
const changingStatement = /^\s*(?:insert|update|delete|merge|truncate)\b/i;
/** PostgreSQL's number of the type text[]. */
const textArray: number = 1009;

export function sqlCommand(): Command {
  return withSettings(new Command('sql'))
    .description('Query the warehouse: open psql, or print the rows of statements.')
    .option(
      '-c, --command <sql>',
      'print the rows of statements that only read; repeatable; needs no psql',
      // As in psql, a second one does not replace the first.
      (text: string, before?: string) => (before === undefined ? text : `${before}\n;${text}`),
    )
    .option(
      '--json',
      'with --command: the rows as one JSON array of objects; otherwise one JSON object with the address, without a ' +
        'password',
    )
    .explain(`
Tables are found without the prefix enrichment. docs/warehouse.md has questions with their SQL.

Examples:
  enrich sql
  enrich sql --command 'select source, count(*) from enriched_contacts group by 1'
  enrich sql --command 'select * from run_costs' --json | jq '.[0]'`)
    .action(async (options: { json?: boolean; command?: string }) => {
      await withWarehouse(settingsOfExisting(options), async (session) => {
        if (options.command !== undefined) {
          const answers = await answersOf(session, options.command);
          if (options.json === true) printJson(objectsOf(onlyAnswer(answers)));
          else print(answers.map(describe).join('\n\n'));
          return;
        }
        const psql = findProgram('psql');
        const address = addressWithoutPassword(session.stack.databaseUrl);
        if (options.json === true) printJson({ address, schema: schemaName, psql: psql ?? null });
        else if (psql === undefined) print(howToConnect(session, address));
        else process.exitCode = await openPsql(psql, session.stack.databaseUrl);
      });
    });
}

type Answer = pg.QueryArrayResult<(string | null)[]>;

/**
 * Runs statements that only read, from one snapshot unless they end the transaction. Before its first query, a
 * read-only transaction can still become one that writes, so this function makes that query. A statement with a name
 * goes through the extended protocol, in which PostgreSQL accepts no text that ends the transaction and then writes.
 *
 * @returns the answer to each, values in PostgreSQL's text form
 * @throws Problem `sql.refused`
 */
async function answersOf({ warehouse }: Session, text: string): Promise<Answer[]> {
  const client = await warehouse.pool.connect();
  let before = '';
  try {
    const answers: Answer[] = [];
    for (const { 0: statement, index } of text.matchAll(pieces)) {
      before = text.slice(0, index);
      const begin =
        client.getTransactionStatus() === 'T' ? '' : 'begin isolation level repeatable read, read only;';
      await client.query(`${begin} select`);
      const answer: Answer = await client.query<(string | null)[]>({
        text: statement,
        name: `statement ${index}`,
        rowMode: 'array',
        types: { getTypeParser: () => (value: string) => value },
      });
      // pg has no command where there was no statement, such as in a comment.
      if ((answer.command as string | null) !== null) answers.push(answer);
    }
    if (answers.length > 0) return answers;
    throw new UsageProblem('sql.refused', 'there is no statement', {
      where: '--command',
      next: "write a statement, such as 'select * from run_costs'; enrich sql without --command opens psql",
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const place =
      error.position === undefined ? '' : `, character ${Array.from(before).length + Number(error.position)}`;
    throw new UsageProblem('sql.refused', error.message, {
      where: `--command${place}`,
      next:
        readOnly.has(error.code) || changingStatement.test(text)
          ? 'this command only reads; enrich undo, erase and suppress remove data, and enrich sql without --command ' +
            'opens psql, which can write into tables'
          : (error.hint ?? 'docs/warehouse.md has the tables and questions with their SQL'),
    });
  } finally {
    client.release(true);
  }
}

/** @throws Problem `sql.refused` if several statements have rows: the output is one array */
function onlyAnswer(answers: readonly Answer[]): Answer {
  const withRows = answers.filter(({ fields }) => fields.length > 0);
  if (withRows.length < 2) return withRows[0] ?? answers.at(-1)!;
  throw new UsageProblem('sql.refused', `${withRows.length} statements, and --json prints the rows of one`, {
    where: '--command',
    next: 'give one statement to each command',
  });
}

function describe({ fields, rows, rowCount, command }: Answer): string {
  // PostgreSQL counts no rows of SHOW and EXPLAIN.
  const count = counted(rowCount ?? rows.length, 'row');
  if (fields.length === 0) return rowCount === null ? command : `${command}: ${count}`;
  const names = fields.map(({ name }) => name);
  const records = rows.map((row) => row.map((value) => value ?? ''));
  return `${recordTable(names, records)}\n${count}`;
}

/** @throws Problem `sql.refused` where two columns have one name: an object holds only one of them */
function objectsOf({ fields, rows }: Answer): Record<string, unknown>[] {
  const names = fields.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) {
    throw new UsageProblem(
      'sql.refused',
      `two columns are named "${repeated}", and an object has a name once`,
      { where: '--command', next: 'give each column a name of its own: … as NAME' },
    );
  }
  return rows.map((row) =>
    Object.fromEntries(
      fields.map(({ name, dataTypeID }, index) => [name, jsonValue(row[index]!, dataTypeID)]),
    ),
  );
}

const { builtins } = pg.types;

const wholeNumber = (text: string): unknown => (Number.isSafeInteger(Number(text)) ? Number(text) : text);
const anyNumber = (text: string): unknown => (Number.isFinite(Number(text)) ? Number(text) : text);

/** How values of types become JSON, as in the other outputs. Values of other types, such as decimals, stay text. */
const readers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [builtins.BOOL, (text) => text === 't'],
  [builtins.INT2, wholeNumber],
  [builtins.INT4, wholeNumber],
  [builtins.INT8, wholeNumber],
  [builtins.FLOAT4, anyNumber],
  [builtins.FLOAT8, anyNumber],
  [builtins.JSON, (text) => JSON.parse(text) as unknown],
  [builtins.JSONB, (text) => JSON.parse(text) as unknown],
  [
    builtins.TIMESTAMPTZ,
    (text) => {
      const time = new Date(text);
      return Number.isNaN(time.getTime()) ? text : time.toISOString();
    },
  ],
  [textArray, pg.types.getTypeParser(textArray)],
]);

function jsonValue(text: string | null, type: number): unknown {
  const read = readers.get(type);
  return text === null || read === undefined ? text : read(text);
}

function howToConnect({ stack, config }: Session, address: string): string {
  const { postgres } = config.embedded.directories;
  const password = stack.embedded.postgres ? `the content of ${postgres}/password` : 'as in DATABASE_URL';
  return [
    'psql is not installed. Connect any PostgreSQL client while enrich dev or another command runs:',
    `  address   ${address}`,
    `  password  ${password}`,
    `  schema    ${schemaName}`,
  ].join('\n');
}

/**
 * Opens psql. The password goes through the environment, which other users of the machine cannot read. psql receives
 * Ctrl-C as well, and cancels its query: this command goes on.
 *
 * @returns psql's exit code
 */
async function openPsql(psql: string, databaseUrl: string): Promise<number> {
  const url = new URL(databaseUrl);
  const { PGOPTIONS: options = '' } = process.env;
  // In the query, as drivers of PostgreSQL accept, it replaces the one before the host.
  const password = url.searchParams.get('password') ?? decodePercent(url.password);
  const env = {
    ...process.env,
    ...(password !== '' && { PGPASSWORD: password }),
    PGOPTIONS: `${options} -c search_path=${schemaName},public`.trim(),
  };
  url.password = '';
  url.searchParams.delete('password');
  const child = spawn(psql, [url.href], { stdio: 'inherit', env });
  let exitCodeOfKilled: number = exitCodes.failed;
  const leave = onInterruption((signal, exitCode) => {
    if (signal === 'SIGINT') return;
    exitCodeOfKilled = exitCode;
    child.kill('SIGTERM');
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? exitCodeOfKilled;
  } finally {
    leave();
  }
}
