import { sql, type Kysely, type RawBuilder } from 'kysely';
import { identityColumns } from '../domain/identity/identity.ts';
import { UsageProblem } from '../domain/problem.ts';
import type { Tables } from './schema.ts';

/** Formats names for `in (…)`, unescaped: only names that the code itself defines are safe. */
export function nameListText(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

/** Names for `in (…)` in a Kysely template, unescaped as in `nameListText`. */
export function nameList(names: readonly string[]): RawBuilder<unknown> {
  return sql.raw(nameListText(names));
}

/** Reads the database's clock. The clock of the machine on which a command runs may be wrong. */
export async function readDatabaseClock(database: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(database);
  return rows[0]!.now;
}

/** SQL list of the columns with a contact's identifying cells, in a row or a contact's record. */
export function identityCells(alias: string): RawBuilder<unknown> {
  return sql.join(identityColumns.map((column) => sql.ref(`${alias}.${column}`)));
}

/** SQL expression: the name cells of a row or of a contact's record, as `NameCells`. */
export function nameCells(alias: string): RawBuilder<unknown> {
  const of = sql.ref(alias);
  return sql`jsonb_build_object('first_name', ${of}.first_name, 'last_name', ${of}.last_name, 'name', ${of}.name)`;
}

/**
 * SQL expression: the places (`ctid`) of rows by their whole key. With a plan from an empty warehouse, PostgreSQL would
 * read all rows of the run. An UPDATE by place may skip a row that another transaction has changed; such a row already
 * has an outcome or no cells.
 */
export function ctidsOfRows(
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

/** Pattern of the beginning of a UUID. Fewer than four characters could be a typing error. */
const beginning = /^[0-9a-f][0-9a-f-]{3,34}$/;

/** SQL condition: the operator has written this UUID, either whole or only its beginning: `0b54…`. */
export function idStartsWith(column: RawBuilder<unknown>, named: string): RawBuilder<boolean> {
  const start = named.replace(/…$/, '');
  return beginning.test(start) ? sql`starts_with(${column}, ${start})` : sql`${column} = ${named}`;
}

/** Returns the only entry that the operator has named. @throws Problem `KIND.unknown`, `KIND.ambiguous` */
export function requireSingleMatch<Entry>(
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
