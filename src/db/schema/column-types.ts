import type { ColumnType } from 'kysely';

/** PostgreSQL `numeric` and `bigint` travel as text: a float would round money and identifiers. */
export type Decimal = string;
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
export type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type Json<Value> = ColumnType<Value, string, string>;
