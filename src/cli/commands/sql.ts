import Papa from 'papaparse';
import pg from 'pg';
import { UsageProblem } from '../../domain/problem.ts';
import { formatCount } from '../../domain/text/format.ts';
import { Command, Option, type CommonFlags } from '../terminal/command.ts';
import { fittedTable, printJson, terminalWidth, write, writeBytes } from '../terminal/output.ts';

export function sqlCommand(): Command {
  return new Command('sql')
    .description('Print the rows of a statement that only reads; if a table is too wide, one value a line.')
    .requiredOption('-c, --command <sql>', 'the statement')
    .addOption(new Option('--csv', 'the rows as CSV with a header').conflicts('json'))
    .json()
    .examples(`
  enrich sql --command 'select source, count(*) from enriched_contacts group by 1'
  enrich sql --command 'select * from run_costs' --csv > costs.csv
  enrich sql --command 'select * from run_costs' --json | jq '.[0]'`)
    .explain(`
Tables are found without the prefix enrichment. docs/guides/questions-in-sql.md has questions with their SQL.
"enrich dev" prints the line that opens psql.`)
    .onWarehouse(async ({ warehouse: { pool } }, options: CommonFlags & { command: string; csv?: true }) => {
      const parses = options.json === true;
      const answer = await readStatement(pool, options.command, { parses, where: '--command' });
      if (parses) return printJson(recordsOfAnswer(answer));
      const { fields, rows, rowCount, command } = answer;
      const names = fields.map(({ name }) => name);
      if (options.csv === true)
        return writeBytes([Buffer.from(`${Papa.unparse([names, ...rows], { newline: '\n' })}\n`)]);
      // PostgreSQL returns no row count for SHOW and EXPLAIN.
      const count = formatCount(rowCount ?? rows.length, 'row');
      const records = rows.map((row) => row.map((value) => value ?? ''));
      const width = terminalWidth(process.stdout);
      const shown = fields.length === 0 ? command : fittedTable(names, records, width);
      write(process.stdout, `${shown === '' ? '' : `${shown}\n`}${count}\n`);
    });
}

/** PostgreSQL's number of the type `text[]`. The driver does not name it. */
const textArray = 1009;
const bigint: number = pg.types.builtins.INT8;
const { BOOL, INT2, INT4, FLOAT4, FLOAT8, JSON: json, JSONB, TIMESTAMPTZ } = pg.types.builtins;
/** PostgreSQL types with values that JSON output parses. Values of other types, such as decimals, stay text. */
const readTypes = new Set<number>([BOOL, INT2, INT4, FLOAT4, FLOAT8, json, JSONB, TIMESTAMPTZ, textArray]);

/** Returns how JSON output reads values of a type. A bigint that a number cannot hold exactly stays text. */
function parserFor(type: number): (text: string) => unknown {
  if (type === bigint) return (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);
  return readTypes.has(type) ? (pg.types.getTypeParser(type) as (text: string) => unknown) : String;
}

type Answer = pg.QueryArrayResult<(string | null)[]>;

/** Returns the rows as objects by column. */
export function recordsOfAnswer({
  fields,
  rows,
}: Pick<Answer, 'fields' | 'rows'>): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])));
}

/**
 * Runs one statement in a read-only transaction. Values stay text unless `parses`. `most` limits the rows, which must
 * then arrive within 30 seconds.
 */
export async function readStatement(
  pool: pg.Pool,
  text: string,
  { parses, most, where }: { readonly parses: boolean; readonly most?: number; readonly where: string },
): Promise<Answer> {
  const client = await pool.connect();
  const cursor = most === undefined ? '' : 'declare answer no scroll cursor for ';
  const rows = {
    rowMode: 'array' as const,
    types: { getTypeParser: (type: number) => (parses ? parserFor(type) : String) },
  };
  try {
    // After the `select`, no statement can make the transaction writable again.
    await client.query('begin isolation level repeatable read, read only; select');
    if (most !== undefined) await client.query(`set local statement_timeout = '30s'`);
    // A named statement uses the extended protocol. It accepts only one statement, so no text can end the transaction.
    const answer = await client.query<(string | null)[]>({ ...rows, text: cursor + text, name: 'statement' });
    return most === undefined ? answer : await client.query({ ...rows, text: `fetch ${most} from answer` });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const next = error.hint ?? 'docs/reference/tables.md has the tables; statements can only read';
    const place = error.position === undefined ? '' : `, character ${+error.position - cursor.length}`;
    throw new UsageProblem('sql.refused', error.message, { where: where + place, next });
  } finally {
    // Closing the connection ends the transaction, and forgets settings that the statement has changed.
    client.release(true);
  }
}
