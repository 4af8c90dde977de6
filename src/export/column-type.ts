/** Types of PostgreSQL that exported columns have, by their object id. */
const types = {
  16: 'boolean',
  20: 'bigint',
  23: 'integer',
  25: 'text',
  1009: 'text[]',
  1082: 'date',
  1184: 'timestamptz',
  1700: 'numeric',
  3802: 'jsonb',
} as const;

export type ColumnType = (typeof types)[keyof typeof types];

export interface ExportColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** @param objectId as PostgreSQL describes the column of a result */
export function columnType(objectId: number): ColumnType {
  const type = types[objectId as keyof typeof types] as ColumnType | undefined;
  if (type === undefined) throw new Error(`columns of the type ${objectId} have no export`);
  return type;
}
