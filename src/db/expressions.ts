import { sql, type RawBuilder } from 'kysely';

/** Number of rows of a query or group. PostgreSQL counts in `bigint`, which travels as text. */
export const rowCount = sql<number>`count(*)::int`;

/** The time of the database's clock. */
export const databaseTime = sql<Date>`clock_timestamp()`;

/** Any of the values, for `=`. They are one parameter, however many they are, and may be none. */
export function anyValue<Value>(values: readonly Value[]): RawBuilder<Value> {
  return sql`any(${values})`;
}
