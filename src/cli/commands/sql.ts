import pg from 'pg';
import { UsageProblem } from '../../domain/problem.ts';
import { counted } from '../../domain/text/format.ts';
import { withWarehouse, type Session } from '../session/session.ts';
import { settingsOfExisting } from '../session/command-settings.ts';
import { Command, jsonArrayOption, Option, type JsonFlag } from '../terminal/command.ts';
import { printJson, recordTable, write, writeBytes } from '../terminal/output.ts';

interface SqlFlags extends JsonFlag {
  readonly command: string;
  readonly csv?: true;
}

/** `enrich sql`: rows of a statement. */
export function sqlCommand(): Command {
  return new Command('sql')
    .description('Print the rows of a statement that only reads.')
    .requiredOption('-c, --command <sql>', 'the statement')
    .addOption(new Option('--csv', 'the rows as CSV with a header').conflicts('json'))
    .option(...jsonArrayOption)
    .explain(`
Tables are found without the prefix enrichment. docs/warehouse.md has questions with their SQL.
"enrich dev" prints the line that opens psql.

Examples:
  enrich sql --command 'select source, count(*) from enriched_contacts group by 1'
  enrich sql --command 'select * from run_costs' --csv > costs.csv
  enrich sql --command 'select * from run_costs' --json | jq '.[0]'`)
    .action(async (options: SqlFlags) => {
      await withWarehouse(settingsOfExisting(), async (session) => {
        const { fields, rows, rowCount, command } = await read(session, options.command);
        const names = fields.map(({ name }) => name);
        if (options.json === true) return printJson(objectsOf(names, fields, rows));
        if (options.csv === true) return writeBytes([Buffer.from([names, ...rows].map(csvLine).join(''))]);
        // PostgreSQL counts no rows of SHOW and EXPLAIN.
        const count = counted(rowCount ?? rows.length, 'row');
        const records = rows.map((row) => row.map((value) => value ?? ''));
        const table = fields.length === 0 ? command : recordTable(names, records);
        write(process.stdout, `${table}\n${count}\n`);
      });
    });
}

type Row = readonly (string | null)[];

/**
 * Runs one statement that only reads. A statement with a name goes through the extended protocol, in which PostgreSQL
 * accepts no text that ends the transaction and then writes. The `select` before it makes the transaction read-only for
 * good.
 *
 * @returns values in PostgreSQL's text form
 * @throws UsageProblem `sql.refused`
 */
async function read({ warehouse }: Session, text: string): Promise<pg.QueryArrayResult<(string | null)[]>> {
  const client = await warehouse.pool.connect();
  try {
    await client.query('begin isolation level repeatable read, read only; select');
    const answer = await client.query<(string | null)[]>({
      text,
      name: 'statement',
      rowMode: 'array',
      types: { getTypeParser: () => (value: string) => value },
    });
    // pg has no command where there was no statement, such as in a comment.
    if ((answer.command as string | null) !== null) return answer;
    throw new UsageProblem('sql.refused', 'there is no statement', {
      where: '--command',
      next: "write a statement, such as 'select * from run_costs'",
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const isWrite =
      error.code === '25006' ||
      error.code === '25001' ||
      /^\s*(?:insert|update|delete|merge|truncate)\b/i.test(text);
    const next = isWrite
      ? 'this command only reads; enrich undo, erase and suppress remove data'
      : (error.hint ?? 'docs/warehouse.md has the tables and questions with their SQL');
    const place = error.position === undefined ? '' : `, character ${error.position}`;
    throw new UsageProblem('sql.refused', error.message, { where: `--command${place}`, next });
  } finally {
    client.release(true);
  }
}

/** @throws UsageProblem `sql.refused` where two columns have one name: an object holds only one of them */
function objectsOf(
  names: readonly string[],
  fields: readonly pg.FieldDef[],
  rows: readonly Row[],
): Record<string, unknown>[] {
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) {
    throw new UsageProblem(
      'sql.refused',
      `two columns are named "${repeated}", and an object has a name once`,
      { where: '--command', next: 'give each column a name of its own: … as NAME' },
    );
  }
  return rows.map((row) =>
    Object.fromEntries(fields.map(({ name, dataTypeID }, at) => [name, inJson(dataTypeID, row[at] ?? null)])),
  );
}

/** PostgreSQL's number of the type text[]. */
const textArray = 1009;
const bigint: number = pg.types.builtins.INT8;
const { BOOL, INT2, INT4, FLOAT4, FLOAT8, JSON: json, JSONB, TIMESTAMPTZ } = pg.types.builtins;
/** Types whose values become JSON as in the other outputs. Others, such as decimals, stay text. */
const readTypes = new Set<number>([BOOL, INT2, INT4, FLOAT4, FLOAT8, json, JSONB, TIMESTAMPTZ, textArray]);

function inJson(type: number, text: string | null): unknown {
  if (text === null) return null;
  if (type === bigint) return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  const value: unknown = readTypes.has(type)
    ? (pg.types.getTypeParser(type) as (text: string) => unknown)(text)
    : text;
  // JSON has neither NaN nor infinity.
  return typeof value === 'number' && !Number.isFinite(value) ? text : value;
}

/** A line of CSV as PostgreSQL writes it: null is an empty cell, an empty text is quoted. */
function csvLine(cells: Row): string {
  const written = cells.map((cell) => {
    if (cell === null) return '';
    return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  });
  return `${written.join(',')}\n`;
}
