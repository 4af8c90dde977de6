import { sql, type Expression, type Kysely, type RawBuilder } from 'kysely';
import { identityColumns } from '../domain/identity/identity.ts';
import type { Tables } from './schema.ts';
import type { Decimal } from './column-types.ts';

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
