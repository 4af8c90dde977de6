import { sql, type Expression, type RawBuilder } from 'kysely';
import { identityColumns } from '../domain/identity/identity-columns.ts';
import type { Decimal } from './schema/column-types.ts';

/** Number of rows of a query or group. PostgreSQL counts in `bigint`, which travels as text. */
export const rowCount = sql<number>`count(*)::int`;

/** The time of the database's clock. */
export const databaseTime = sql<Date>`clock_timestamp()`;

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
