import { sql, type Expression, type Kysely, type RawBuilder } from 'kysely';
import { identityColumns } from '../domain/identity/identity.ts';
import { UsageProblem } from '../domain/problem.ts';
import type { Tables } from './schema.ts';
import type { Decimal } from './column-types.ts';

/** Names as a list for `in (…)` in raw SQL. Not escaped: only for names that the code itself defines. */
export function oneOf(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

/** Names as a list for `in (…)` in a template of Kysely; not escaped, as in `oneOf`. */
export function anyOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.raw(oneOf(names));
}

/** Number of rows of a query or group. PostgreSQL counts in `bigint`, which travels as text. */
export const rowCount = sql<number>`count(*)::int`;

export const databaseTime = sql<Date>`clock_timestamp()`;

/** Reads the database's clock: the clock of a machine on which commands run may be wrong. */
export async function readClock(database: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(database);
  return rows[0]!.now;
}

/** Decimal text without trailing zeros. */
export function decimalText<Value extends Decimal | null>(value: Expression<Value>): RawBuilder<Value> {
  return sql`trim_scale(${value})::text`;
}

/** Any of the values, for `=`. They are one parameter, however many they are, and may be none. */
export function anyValue<Value>(values: readonly Value[]): RawBuilder<Value> {
  return sql`any(${values})`;
}

/** The identifying cells of a contact, as a list of columns. @param alias of a row or of a contact's record */
export function identityCells(alias: string): RawBuilder<unknown> {
  return sql.join(identityColumns.map((column) => sql.ref(`${alias}.${column}`)));
}

/** The cells that name a contact, as `NameCells`. @param alias as for `identityCells` */
export function nameCells(alias: string): RawBuilder<unknown> {
  const of = sql.ref(alias);
  return sql`jsonb_build_object('first_name', ${of}.first_name, 'last_name', ${of}.last_name, 'name', ${of}.name)`;
}

/**
 * Expression: the places (`ctid`) of a run's rows, claims or recorded cells with these row numbers. Each is looked up
 * by its whole key: by a plan from an empty warehouse, PostgreSQL read all rows of the run to find ten.
 *
 * PostgreSQL's minor release decides whether an UPDATE by place skips a row that another transaction has changed
 * meanwhile. Both are right here: such a change gives the row an outcome, which stays, or removes the cells.
 *
 * @param rowNumbers query of one column
 */
export function placesOfRows(
  table: 'run_rows' | 'claims' | 'contact_records',
  runId: string,
  rowNumbers: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`array(
    select found.ctid
    from (select distinct row_number from (${rowNumbers}) as given (row_number)) n
    cross join lateral (
      select e.ctid from ${sql.table(table)} e
      where e.run_id = ${runId} and e.row_number = n.row_number
      offset 0
    ) found)`;
}

/** The beginning of a UUID. Fewer characters than four could be a slip of the keyboard. */
const beginning = /^[0-9a-f][0-9a-f-]{3,34}$/;

/** Whether a UUID of a table is the one that a person named by the whole id, or by its beginning: `0b54…`. */
export function isNamedId(column: RawBuilder<unknown>, named: string): RawBuilder<boolean> {
  const start = named.replace(/…$/, '');
  return beginning.test(start) ? sql`starts_with(${column}, ${start})` : sql`${column} = ${named}`;
}

/**
 * The only entry that an id, or its beginning, names.
 *
 * @param kind of the entries, for the error
 * @throws Problem `KIND.unknown`; `KIND.ambiguous` where it names two
 */
export function theOnlyNamed<Entry>(
  [entry, other]: readonly Entry[],
  kind: 'attempt' | 'delivery',
  named: string,
  next: string,
): Entry {
  if (entry === undefined)
    throw new UsageProblem(`${kind}.unknown`, `there is no ${kind} ${named}`, { where: named, next });
  if (other === undefined) return entry;
  const problem = { where: named, next: `write more of the id; ${next}` };
  throw new UsageProblem(`${kind}.ambiguous`, `${named} names more than one ${kind}`, problem);
}
