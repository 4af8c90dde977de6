import Papa from 'papaparse';
import pg from 'pg';
import { UsageProblem } from '../../domain/problem.ts';
import { counted } from '../../domain/text/format.ts';
import { onWarehouse, type Session } from '../session/session.ts';
import { Command, Option, type Flags, jsonOption } from '../terminal/command.ts';
import { printJson, table, write, writeBytes } from '../terminal/output.ts';

export function sqlCommand(): Command {
  return new Command('sql')
    .description('Print the rows of a statement that only reads.')
    .requiredOption('-c, --command <sql>', 'the statement')
    .addOption(new Option('--csv', 'the rows as CSV with a header').conflicts('json'))
    .option(...jsonOption)
    .explain(`
Tables are found without the prefix enrichment. docs/guides/questions-in-sql.md has questions with their SQL.
"enrich dev" prints the line that opens psql.

Examples:
  enrich sql --command 'select source, count(*) from enriched_contacts group by 1'
  enrich sql --command 'select * from run_costs' --csv > costs.csv
  enrich sql --command 'select * from run_costs' --json | jq '.[0]'`)
    .action(
      onWarehouse(async (session, options: Flags & { command: string; csv?: true }) => {
        const isJson = options.json === true;
        const { fields, rows, rowCount, command } = await read(session, options.command, isJson);
        const names = fields.map(({ name }) => name);
        if (isJson)
          return printJson(rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]]))));
        if (options.csv === true)
          return writeBytes([Buffer.from(`${Papa.unparse([names, ...rows], { newline: '\n' })}\n`)]);
        // PostgreSQL counts no rows of SHOW and EXPLAIN.
        const count = counted(rowCount ?? rows.length, 'row');
        const records = rows.map((row) => row.map((value) => value ?? ''));
        const shown = fields.length === 0 ? command : table([names, ...records]);
        write(process.stdout, `${shown}\n${count}\n`);
      }),
    );
}

const textArray = 1009;
const bigint: number = pg.types.builtins.INT8;
const { BOOL, INT2, INT4, FLOAT4, FLOAT8, JSON: json, JSONB, TIMESTAMPTZ } = pg.types.builtins;
/** Types whose values become JSON as in the other outputs. Others, such as decimals, stay text. */
const readTypes = new Set<number>([BOOL, INT2, INT4, FLOAT4, FLOAT8, json, JSONB, TIMESTAMPTZ, textArray]);

function parserFor(type: number): (text: string) => unknown {
  if (type === bigint) return (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);
  return readTypes.has(type) ? (pg.types.getTypeParser(type) as (text: string) => unknown) : String;
}

/** A named statement goes through the extended protocol, in which no text can end the transaction and then write. */
async function read(
  { warehouse }: Session,
  text: string,
  parses: boolean,
): Promise<pg.QueryArrayResult<(string | null)[]>> {
  const client = await warehouse.pool.connect();
  try {
    await client.query('begin isolation level repeatable read, read only; select');
    return await client.query<(string | null)[]>({
      text,
      name: 'statement',
      rowMode: 'array',
      types: { getTypeParser: (type: number) => (parses ? parserFor(type) : String) },
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const next = error.hint ?? 'docs/reference/tables.md has the tables; this command only reads';
    const place = error.position === undefined ? '' : `, character ${error.position}`;
    throw new UsageProblem('sql.refused', error.message, { where: `--command${place}`, next });
  } finally {
    client.release(true);
  }
}
