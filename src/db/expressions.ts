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

/** Decimal as text, without trailing zeros. */
export function decimalText<Value extends Decimal | null>(value: Expression<Value>): RawBuilder<Value> {
  return sql`trim_scale(${value})::text`;
}

/** Any of these values, for `=`. The list is one parameter and may be empty. */
export function anyValue<Value>(values: readonly Value[]): RawBuilder<Value> {
  return sql`any(${values})`;
}

/** The identifying cells of a contact, as a list of columns. @param alias of a row or of a contact's record */
export function identityCells(alias: string): RawBuilder<unknown> {
  return sql.join(identityColumns.map((column) => sql.ref(`${alias}.${column}`)));
}

/** The cells with the name of a contact, as `NameCells`. @param alias as for `identityCells` */
export function nameCells(alias: string): RawBuilder<unknown> {
  const of = sql.ref(alias);
  return sql`jsonb_build_object('first_name', ${of}.first_name, 'last_name', ${of}.last_name, 'name', ${of}.name)`;
}

/**
 * SQL: the places (`ctid`) of rows, claims or recorded cells of a run with these row numbers. Each is looked up by its
 * whole key. With a plan from an empty warehouse, PostgreSQL would read all rows of the run.
 *
 * Whether an UPDATE by place skips a row that another transaction has changed depends on PostgreSQL's minor release.
 * Both are right here: the other change gives an outcome, which stays, or removes the cells.
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

/** The beginning of a UUID. Less than four characters could be a typing error. */
const beginning = /^[0-9a-f][0-9a-f-]{3,34}$/;

/** SQL condition: the user named this UUID, either whole or by its beginning: `0b54…`. */
export function isNamedId(column: RawBuilder<unknown>, named: string): RawBuilder<boolean> {
  const start = named.replace(/…$/, '');
  return beginning.test(start) ? sql`starts_with(${column}, ${start})` : sql`${column} = ${named}`;
}

/**
 * The single entry that the user named by its id or the beginning of it.
 *
 * @param kind of the entries, for the error
 * @throws Problem `KIND.unknown`; `KIND.ambiguous` if two entries have this beginning
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
