import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import { nameList, ctidsOfRows, identityCells } from '../db/expressions.ts';
import { selectContact } from '../keys/contact-key.ts';
import { rowHasOneOfKeys } from '../keys/key-lookups.ts';
import type { Tables } from '../db/schema.ts';
import { outcomesWithoutCall } from '../domain/runs/outcome.ts';
import {
  suppressionKeysOfKnownPeople,
  suppressionKeysOfPeople,
  suppressionKeysOfRows,
  knownPeopleOfRows,
  rowsWithRun,
} from './compared-keys.ts';
import { hasSuppressions, suppressedRows, readSuppressedRows } from './suppression-list.ts';
import { identityColumns } from '../domain/identity/identity.ts';

/** Suppresses rows from `first` to `last` that the run makes no call for. `dropSuppressed` covers the other rows. */
export async function dropSuppressedWithoutCall(
  database: Kysely<Tables>,
  runId: string,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<void> {
  const isNotAsked = sql<boolean>`r.outcome in (${nameList(outcomesWithoutCall)})`;
  const rowNumbers = sql`
    select row_number
    from run_rows r
    where run_id = ${runId} and row_number between ${first} and ${last} and ${isNotAsked}`;
  await dropSuppressed(database, runId, rowNumbers, isNotAsked);
}

/**
 * Gives rows of suppressed people the outcome `suppressed` and deletes their claims. The list is compared with the keys
 * of the row, and with all keys of its contact's person and of people who share an identifier with the row.
 *
 * @param which condition on `r`, a row of the run: only these rows get the outcome
 * @returns how many rows were suppressed
 */
export async function dropSuppressed(
  database: Kysely<Tables>,
  runId: string,
  rowNumbers: RawBuilder<unknown>,
  which = sql<boolean>`r.outcome is null`,
): Promise<number> {
  if (!(await hasSuppressions(database))) return 0;
  const rows = sql`
    select r.row_number, r.contact_id, r.keys, runs.source from ${rowsWithRun(runId, rowNumbers)}`;
  const peopleOfContacts = sql`
    select r.row_number, c.service, c.person_key
    from (${rows}) r
    cross join lateral (${selectContact(sql`r.source`, sql`r.contact_id`)}) c`;
  const { rows: dropped } = await sql<{ row_number: number }>`
    with people_of_rows as materialized (${peopleOfContacts} union ${knownPeopleOfRows(rows)}),
    keys_of_rows as materialized (
      ${suppressionKeysOfRows(runId, rowNumbers)}
      union all
      ${suppressionKeysOfKnownPeople(sql`select * from people_of_rows`)}
    ),
    listed as (${suppressedRows(sql`select * from keys_of_rows`)}),
    unclaimed as (
      delete from claims where ctid = any(${ctidsOfRows('claims', runId, sql`select row_number from listed`)})
    ),
    dropped as (
      update run_rows r
      set outcome = 'suppressed',
        reason = 'on the suppression list since the plan was made, or under a key that an answer stated',
        ${clearSuppressedRow}
      where r.ctid = any(${ctidsOfRows('run_rows', runId, sql`select row_number from listed`)}) and ${which}
      returning r.row_number
    ),
    -- The cells are cleared in the same statement: if the process were killed between two statements, nothing would
    -- clear them later.
    ${clearRecordedCells(runId, sql`select row_number from dropped`)}
    select row_number from dropped
  `.execute(database);
  return dropped.length;
}

/** True if the list has one of the keys, or a key of a known person with one of these identifiers. */
export async function isSuppressed(database: Kysely<Tables>, keys: readonly string[]): Promise<boolean> {
  const listed = await readSuppressedRows(database, suppressionKeysOfPeople([{ number: 1, keys }]));
  return listed.size > 0;
}

/** SQL assignments that clear the cells and keys of a row. */
const clearedCells = sql`
  raw = '[]', ${sql.join(identityColumns.map((column) => sql`${sql.ref(column)} = null`))},
  keys = '{}'
`;

/** SQL assignments that clear the personal data of a staged row. */
export const clearPersonalData = sql`${clearedCells}, identity_hash = null`;

/**
 * SQL assignments that clear a suppressed row `r`. A hash of the cells still shows if the contact's record changes. A
 * row that retention has cleared gets none, because the hash of no cells would differ from every record.
 */
export const clearSuppressedRow = sql`${clearedCells}, filled = false, is_contested = false, identity_hash = case
  when num_nonnulls(${identityCells('r')}) > 0 then ${identityHash('r')}
end`;

/** Clears rows that an answer has shown to be suppressed people, and suppresses duplicates that share their keys. */
export async function clearSuppressedRows(
  transaction: Transaction<Tables>,
  runId: string,
  rowNumbers: readonly number[],
): Promise<void> {
  const listed = sql`
    select row_number, keys from run_rows
    where run_id = ${runId} and row_number = any(${rowNumbers}::integer[]) and outcome = 'suppressed'`;
  const duplicates = await sql<{ row_number: number }>`
    update run_rows r
    set outcome = 'suppressed', reason = 'the same person is on the suppression list by row ' || l.row_number,
      ${clearSuppressedRow}
    from (${listed}) l
    where r.run_id = ${runId} and r.outcome = 'duplicate' and r.keys && l.keys
      and ${rowHasOneOfKeys(sql`select unnest(keys) from (${listed}) listed`)}
    returning r.row_number
  `.execute(transaction);
  await sql`
    update run_rows r set ${clearSuppressedRow}
    where r.run_id = ${runId} and r.row_number = any(${rowNumbers}::integer[]) and r.outcome = 'suppressed'
      and r.keys <> '{}'
  `.execute(transaction);
  const cleared = duplicates.rows.map((row) => row.row_number);
  const suppressed = sql`select unnest(${[...rowNumbers, ...cleared]}::int[])`;
  await sql`with ${clearRecordedCells(runId, suppressed)} select`.execute(transaction);
}

/** SQL expression: the hash of the identity columns. @param alias table alias of a row or of a contact's record */
export function identityHash(alias: string): RawBuilder<Buffer> {
  return sql`sha256(convert_to(row(${identityCells(alias)})::text, 'UTF8'))`;
}

/**
 * Common table expressions that clear the recorded cells of suppressed rows, except for contacts that keep their
 * person. The emptied record stays, so that no earlier one is the newest. Other contacts can now get people who fit the
 * cells.
 */
function clearRecordedCells(runId: string, rowNumbers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`cleared_records as (
    update contact_records k
    set keys = '{}', match_keys = '{}', ${sql.join(identityColumns.map((column) => sql`${sql.ref(column)} = null`))}
    where k.ctid = any(${ctidsOfRows('contact_records', runId, rowNumbers)})
      and not exists (select from contacts c where c.source = k.source and c.contact_id = k.contact_id)
    returning k.match_keys
  ), queued_people as (
    insert into digest_queue (kind, owner, name)
    select distinct 'person', p.service, p.person_key
    from cleared_records cross join unnest(match_keys) as own (key)
    join person_keys p on p.key = own.key
  )`;
}
