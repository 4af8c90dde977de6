import { to as copyTo } from 'pg-copy-streams';
import type { Readable } from 'node:stream';
import { UsageProblem } from '../domain/problem.ts';
import type { Warehouse } from '../db/database.ts';
import { personColumns } from '../domain/warehouse/person-columns.ts';
import { parseCursor, requireCursor } from '../people/change-feed.ts';
import { cursorAdvice, selectedContactCondition, type ContactChoice } from './contact-choice.ts';
import { exportFormats, type ExportFormatName } from './export-format.ts';
import type { ExportedType, ParquetColumn } from './parquet.ts';

/** Makes the SQL condition that the row `t` belongs to a selected contact. `selected` selects their columns. */
type Belongs = (selected: (columns: string) => string) => string;

const ofContacts: Belongs = (selected) =>
  `(t.source, t.contact_id) in (${selected('c.source, c.contact_id')})`;

const ofPeople: Belongs = (selected) =>
  `(t.service, t.person_key) in (${selected('c.service, c.person_key')})`;

const ofOrganizations: Belongs = (selected) => `(t.service, t.organization_key) in (
  select p.service, p.organization_key
  from people p
  where (p.service, p.person_key) in (${selected('c.service, c.person_key')}))`;

/** Describes a table that can be exported. @param belongs undefined if each row is a contact */
const exported = (relation: string, belongs: Belongs | undefined, ...order: readonly string[]) => ({
  relation,
  belongs,
  order,
});

const person = ['service', 'person_key'];
const contact = ['source', 'contact_id'];

export const exportedTables = {
  contacts: exported('enriched_contacts', undefined, ...contact),
  changes: exported('contact_changes', undefined, 'change_id', ...contact),
  people: exported('people', ofPeople, ...person),
  emails: exported('person_emails', ofPeople, ...person, 'position', 'email'),
  phones: exported('person_phones', ofPeople, ...person, 'rank'),
  employment: exported('employment_history', ofPeople, ...person, 'position'),
  organizations: exported('organizations', ofOrganizations, 'service', 'organization_key'),
  history: exported('contact_history', ofContacts, ...contact, 'field_group', 'valid_from'),
  provenance: exported('field_provenance', ofContacts, ...contact, 'field_group'),
  'job-changes': exported('job_changes', ofPeople, ...person, 'detected_at', 'observation_id'),
};

export type ExportedTableName = keyof typeof exportedTables;

export const exportedTableNames = Object.keys(exportedTables) as readonly ExportedTableName[];

/** Default columns of an export of contacts, in order. Exports of other tables have all columns by default. */
export const contactColumns: readonly string[] = [
  'source',
  'contact_id',
  ...personColumns.filter(({ inContacts }) => inContacts).map(({ name }) => name),
  'enriched_at',
  'run_id',
];

export interface TableExport {
  readonly table: ExportedTableName;
  readonly format: ExportFormatName;
  readonly choice: ContactChoice;
  /** Column names in order, or `*`. Undefined means `contactColumns` for contacts and all columns for other tables. */
  readonly select?: readonly string[] | undefined;
}

/** Exports a table to `take` with bounded memory. @returns the number of rows; undefined if `take` stopped early */
export async function exportTable(
  { pool, database }: Warehouse,
  { table, format, choice, select }: TableExport,
  take: (bytes: Readable, beginning: string) => Promise<void>,
): Promise<number | undefined> {
  if (choice.since !== undefined) await requireCursor(database, choice.since, cursorAdvice);
  const { fields } = await pool.query(`select * from ${exportedTables[table].relation} limit 0`);
  const all = fields.map(({ name, dataTypeID }) => ({ name, type: typeOf(dataTypeID) }));
  const columns = selectColumns(table, all, select);
  const { query, copy, beginning, ...encoding } = exportFormats[format];
  const statement = query(rowsOf({ table, format, choice }, columns));
  const client = await pool.connect();
  try {
    const copied = client.query(copyTo(`copy (${statement}) to stdout with (${copy})`));
    const bytes = 'encode' in encoding ? await encoding.encode(copied, columns) : copied;
    // If `take` fails early, these streams fail too. Without a listener, that would end the process.
    for (const stream of [copied, bytes]) stream.on('error', () => {});
    await take(bytes, beginning(columns));
    // The reader, such as `head`, has stopped early, so PostgreSQL is still sending rows.
    return bytes.readableEnded ? copied.rowCount : undefined;
  } finally {
    // A connection within a COPY cannot be reused, so it is closed.
    client.release(true);
  }
}

/** Column types by PostgreSQL's object id of the type. */
const types: Readonly<Record<number, ExportedType>> = {
  16: 'boolean',
  20: 'bigint',
  23: 'integer',
  25: 'text',
  1009: 'text[]',
  1082: 'date',
  1184: 'timestamptz',
  1700: 'numeric',
  3802: 'jsonb',
};

function typeOf(objectId: number): ExportedType {
  const type = types[objectId];
  if (type === undefined) throw new Error(`columns of the type ${objectId} have no export`);
  return type;
}

/** Returns the columns of `--select` in its order, or the default. @throws UsageProblem `export.column-…` */
function selectColumns(
  table: ExportedTableName,
  all: readonly ParquetColumn[],
  select: readonly string[] | undefined,
): readonly ParquetColumn[] {
  if (select === undefined ? table !== 'contacts' : select.join() === '*') return all;
  const repeated = select?.find((name, index) => select.indexOf(name) < index);
  if (repeated !== undefined)
    throw new UsageProblem('export.column-repeated', `the column "${repeated}" is named twice`, {
      where: '--select',
      next: 'name each column once',
    });
  return (select ?? contactColumns).map((name) => {
    const column = all.find((each) => each.name === name);
    if (column) return column;
    throw new UsageProblem('export.column-unknown', `there is no column "${name}" in ${table}`, {
      where: '--select',
      next: `write some of ${all.map((each) => each.name).join(', ')}`,
    });
  });
}

/** Makes the query of an export. Column names come from the schema, so they need no quoting. */
function rowsOf({ table, format, choice }: TableExport, columns: readonly ParquetColumn[]): string {
  const { relation, order, belongs } = exportedTables[table];
  // `selectedContactCondition` calls a contact `c`, so the row has this name if it is a contact.
  const row = belongs === undefined ? 'c' : 't';
  const values = columns.map(
    ({ name, type }) => `${exportFormats[format].value(`${row}."${name}"`, type)} as "${name}"`,
  );
  const condition =
    belongs === undefined
      ? selectedContactCondition(choice)
      : belongs(
          (selected) =>
            `select ${selected} from enriched_contacts c where ${selectedContactCondition(choice)}`,
        );
  // This repeats a condition of `selectedContactCondition`, so that PostgreSQL reads only the newest changes.
  const isNew = table === 'changes' && choice.since ? `c.change_id > ${parseCursor(choice.since)}` : 'true';
  return `select ${values.join(', ')}
    from ${relation} ${row}
    where ${condition} and ${isNew}
    order by ${order.map((column) => `${row}.${column}`).join(', ')}`;
}
