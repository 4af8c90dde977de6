import { sql, type Kysely, type Transaction, type RawBuilder } from 'kysely';
import {
  contactsByMatch,
  readDoubtfulContacts,
  readKeysOfPeople,
  readOpenContacts,
  readPeopleKeys,
  readReleasedContacts,
  readReplacedKeys,
  type PeopleKeys,
} from '../people/contacts/contacts-by-match-key.ts';
import {
  findNewestRows,
  readOvertakenContacts,
  readRows,
  readMatchedContacts,
  readRowsToDecide,
  type ContactState,
} from '../people/contacts/contact-states.ts';
import {
  applyDecisions,
  decideAffected,
  decideRows,
  applyChanges,
} from '../people/contacts/apply-changes.ts';
import { reuseForLeftOut } from '../people/log/reuse-observations.ts';
import { findChanges, type ContactChange } from '../people/contacts/find-changes.ts';
import { eachOf, addressesOfHash, identifiesAlone } from '../keys/key-lookups.ts';
import { suppressNotAsked } from '../suppression/drop-suppressed.ts';
import { writeAboutPeople } from '../suppression/write-about-people.ts';
import type { Warehouse } from '../db/database.ts';
import { recordOrder } from '../db/valid-entries.ts';
import type { Tables } from '../db/schema.ts';
import { filledNote } from '../domain/runs/outcome.ts';
import { askedBy } from './pages.ts';
import { getRun } from './runs.ts';
import { identityCells } from '../db/expressions.ts';

/** What was decided about contacts without any call. */
export interface ReconciledContacts {
  /** Contacts that got the data of a known person. */
  readonly filled: number;
  /**
   * Contacts that lost the data of the person whom they were: their cells contradict it, or another contact or person
   * fits as well.
   */
  readonly withdrawn: number;
}

const rowsPerBatch = 1_000;

/**
 * Decides about contacts by everything that is known before and after the calls of a run: about the rows of the run,
 * and about contacts of any run and source that could be a person whom the run found, or whose person a row of the run
 * could be. Afterwards every contact is the person whom the rule of docs/identity.md gives it, whichever row, file,
 * source or run paid for the person, and in whatever order and batches people were asked for.
 *
 * Doing so again changes nothing. Stored answers of an undone run are used as well: they were paid for.
 *
 * @param signal ends it between two batches
 */
export async function reconcileContacts(
  warehouse: Warehouse,
  runId: string,
  signal: AbortSignal,
): Promise<ReconciledContacts> {
  const run = await getRun(warehouse, runId);
  const { service } = run.options;
  const repeated = await repeatedRecords(warehouse, runId);
  const tally = { filled: 0, withdrawn: 0 };
  const decide = async (...reads: readonly Read[]): Promise<void> => {
    signal.throwIfAborted();
    const changes = await decideInBatch(warehouse, { runId, service }, reads);
    tally.filled += changes.filter(({ kind }) => kind === 'fill').length;
    tally.withdrawn += changes.filter(({ kind }) => kind === 'withdraw').length;
  };
  for (let after = 0; after < run.rowsStaged; after += rowsPerBatch) {
    const repeats = repeated.get(after / rowsPerBatch) ?? [];
    const rows = sql<boolean>`(r.run_id = ${runId} and r.row_number > ${after}
      and r.row_number <= ${after + rowsPerBatch} and r.row_number <> all (${repeats}::int[]))`;
    await writeAboutPeople(warehouse.database, (transaction) =>
      suppressNotAsked(transaction, runId, { first: after + 1, last: after + rowsPerBatch }),
    );
    // First: a contact that loses its person leaves the person to a row of the run.
    await decide((transaction) => readContested(transaction, service, rows));
    await decide(
      (transaction) => readRowsToDecide(transaction, service, rows),
      (transaction, decided) => readReleasedContacts(transaction, service, decided),
    );
    await writeAboutPeople(warehouse.database, (transaction) =>
      reuseForLeftOut(transaction, { runId, ...askedBy(run.options) }, { after, last: after + rowsPerBatch }),
    );
  }
  for (const batch of inBatches(await findNewestRows(warehouse.database, runId, 'newer')))
    await decide((transaction) => readRows(transaction, service, batch));
  await decide((transaction) => readOvertakenContacts(transaction, service, runId));
  for await (const keys of peopleFound(warehouse, runId, service)) {
    await decide((transaction) => readDoubtfulContacts(transaction, service, keys));
    await decide((transaction) => readOpenContacts(transaction, service, keys));
  }
  return tally;
}

/**
 * Decides about contacts anew after a run was undone, or its undo was reverted: by the newest rows, and because
 * people and rows that made others doubtful have gone or come back.
 *
 * @param signal ends it between two batches
 */
export async function reconcileAfterUndo(
  warehouse: Warehouse,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const { rowsStaged, options, undone } = await getRun(warehouse, runId);
  const { service } = options;
  const deciding = { service, whileUndone: undone === null ? undefined : runId };
  const decide = (keys: PeopleKeys): Promise<void> =>
    writeAboutPeople(warehouse.database, (transaction) => decideAffected(transaction, deciding, keys));
  for (const batch of inBatches(await findNewestRows(warehouse.database, runId, 'any'))) {
    if (signal.aborted) return;
    await writeAboutPeople(warehouse.database, (transaction) => decideRows(transaction, deciding, batch));
  }
  await writeAboutPeople(warehouse.database, (transaction) => applyDecisions(transaction, deciding, runId));
  for (let after = 0; after < rowsStaged && !signal.aborted; after += rowsPerBatch) {
    const rows = sql<boolean>`(r.run_id = ${runId}
      and r.row_number > ${after} and r.row_number <= ${after + rowsPerBatch})`;
    const names = Array.from({ length: rowsPerBatch }, (_, index) => ({
      runId,
      rowNumber: after + index + 1,
    }));
    const keys = [
      ...(await matchKeysOfRows(warehouse.database, rows)),
      ...(await readReplacedKeys(warehouse.database, names)),
    ];
    await decide(await readKeysOfPeople(warehouse.database, service, keys));
  }
  for await (const keys of peopleFound(warehouse, runId, service)) {
    if (signal.aborted) return;
    await decide(keys);
  }
}

function inBatches<Row>(rows: readonly Row[]): (readonly Row[])[] {
  return Array.from({ length: Math.ceil(rows.length / rowsPerBatch) }, (_, batch) =>
    rows.slice(batch * rowsPerBatch, (batch + 1) * rowsPerBatch),
  );
}

/** The keys of the people whom a run found, in batches. */
async function* peopleFound(
  { database }: Warehouse,
  runId: string,
  service: string,
): AsyncGenerator<PeopleKeys> {
  for (let after = '0'; ;) {
    const { rows } = await sql<{ last: string | null }>`
      select max(observation_id) as last from (
        select observation_id from observation_log
        where run_id = ${runId} and observation_id > ${after}
        order by observation_id
        limit ${rowsPerBatch}
      ) batch
    `.execute(database);
    const { last } = rows[0]!;
    if (last === null) return;
    yield await readPeopleKeys(
      database,
      service,
      sql<boolean>`(o.run_id = ${runId} and o.observation_id > ${after} and o.observation_id <= ${last})`,
    );
    after = last;
  }
}

/** Reads contacts. @param decided the contacts that the same transaction has decided about before */
type Read = (transaction: Transaction<Tables>, decided: readonly ContactState[]) => Promise<ContactState[]>;

async function decideInBatch(
  warehouse: Warehouse,
  { runId, service }: { readonly runId: string; readonly service: string },
  reads: readonly Read[],
): Promise<readonly ContactChange[]> {
  return writeAboutPeople(warehouse.database, async (transaction) => {
    const made: ContactChange[] = [];
    let contacts: readonly ContactState[] = [];
    for (const read of reads) {
      contacts = await read(transaction, contacts);
      const changes = await findChanges(transaction, service, contacts, { withUndone: true });
      made.push(...(await applyChanges(transaction, { service, runId }, changes)));
    }
    await noteRows(transaction, made);
    return made;
  });
}

/** Contacts of any source to whom weak evidence gave a person whom a row of the run could be as well. */
async function readContested(
  transaction: Transaction<Tables>,
  service: string,
  rows: ReturnType<typeof sql<boolean>>,
): Promise<ContactState[]> {
  const keys = await matchKeysOfRows(transaction, rows);
  return readMatchedContacts(transaction, service, contactsByMatch(service, eachOf(keys)));
}

/**
 * Reads the match keys of rows `r`. In a statement of its own: as a part of the lookup of the keys, PostgreSQL read the
 * rows of all runs, because it expected a lookup to cost much more.
 */
async function matchKeysOfRows(
  database: Kysely<Tables>,
  rows: ReturnType<typeof sql<boolean>>,
): Promise<readonly number[]> {
  const { rows: found } = await sql<{ key: number }>`
    select distinct unnest(r.match_keys) as key from run_rows r where ${rows}
  `.execute(database);
  return found.map(({ key }) => key);
}

/** Rows that do not stand for their record, and name the same person as the row that does, by batch of rows from 0. */
async function repeatedRecords(
  { database }: Warehouse,
  runId: string,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const { rows } = await sql<{ batch: number; numbers: number[] }>`
    select (row_number - 1) / ${rowsPerBatch} as batch, array_agg(row_number) as numbers
    from (
      select row_number, is_contested, row_number() over (
          partition by contact_id order by ${sql.raw(recordOrder('run_rows'))}) as place
      from run_rows
      where run_id = ${runId}
    ) placed
    where place > 1 and not is_contested
    group by 1
  `.execute(database);
  return new Map(rows.map(({ batch, numbers }) => [batch, numbers]));
}

/** Keeps whether the contact of a row was filled, and says it in the reason; an earlier note is replaced. */
async function noteRows(transaction: Transaction<Tables>, changes: readonly ContactChange[]): Promise<void> {
  const notes = changes.flatMap((change) => {
    const { runId, rowNumber } = change.contact;
    if (change.kind === 'fill') return [{ runId, rowNumber, filled: true, note: filledNote }];
    return change.kind === 'refuse' && !change.contact.wasAsked
      ? [{ runId, rowNumber, filled: false, note: `not filled: ${change.reason}` }]
      : [];
  });
  if (notes.length === 0) return;
  await sql`
    update run_rows r
    set filled = n.filled,
      reason = concat_ws(
        '; ',
        nullif(regexp_replace(r.reason, ${`(; |^)(not filled: .*|${filledNote})$`}, ''), ''),
        n.note)
    from (
      select run_id, row_number, n.filled, n.note
      from unnest(${notes.map(({ runId }) => runId)}::text[], ${notes.map(({ rowNumber }) => rowNumber)}::int[],
        ${notes.map(({ filled }) => filled)}::boolean[], ${notes.map(({ note }) => note)}::text[])
        as n (run_id, row_number, filled, note)
      join run_rows using (run_id, row_number)
      order by run_id, row_number
      for update of run_rows
    ) n
    where r.run_id = n.run_id and r.row_number = n.row_number
  `.execute(transaction);
}

/**
 * The maximum number of contacts that a planned run can fill without a call: contacts that are not asked for and share
 * a strong key with a known person or with a row that is asked for, or that had a person in an undone run with the same
 * record id and cells.
 */
export async function countFillable(
  database: Kysely<Tables>,
  { runId, source, service }: { readonly runId: string; readonly source: string; readonly service: string },
): Promise<number> {
  const answeredBeforeUndo = sql`
    select from (select * from contact_records where keys @> array[r.keys[1]] offset 0) k
    join runs u on u.run_id = k.run_id and u.undone_at is not null
    cross join lateral (
      select * from contact_matches where source = k.source and contact_id = k.contact_id offset 0
    ) m
    where k.contact_id = r.contact_id
      and m.run_id = k.run_id
      and row(${identityCells('k')}) is not distinct from row(${identityCells('r')})
      and m.service = ${service}
      and m.person_key is not null`;
  // A record that shares no key with its earlier cells can have become somebody else.
  const hasPerson = sql`
    select from contacts c
    left join contact_records k on k.source = c.source and k.contact_id = c.contact_id
    where c.source = ${source}
      and c.contact_id = r.contact_id
      and (k.keys is null or k.keys && r.keys)`;
  const { rows } = await sql<{ fillable: number }>`
    select count(distinct r.contact_id)::int as fillable
    from run_rows r
    where r.run_id = ${runId}
      and r.outcome in ('duplicate', 'fresh')
      and r.record_row is null
      and not ${isAny(hasPerson)}
      and ((${hasUndoneRuns} and ${isAny(answeredBeforeUndo)}) or exists (
        select from unnest(r.keys) as identity_key
        where ${identifiesAlone(sql`identity_key`)}
          and (
            r.outcome = 'duplicate'
            or ${isAny(sql`
              select from observation_log o
              where o.service = ${service}
                and o.identity_keys @> array[identity_key]
                and o.person_id is not null`)}
            or starts_with(identity_key, 'hash:')
              and ${isAny(addressesOfHash(service, sql`identity_key`))})))
  `.execute(database);
  return rows[0]!.fillable;
}

/** Evaluated once: without an undone run, a plan of a million fresh people looks up no records. */
const hasUndoneRuns = sql<boolean>`exists (select from runs where undone_at is not null)`;

/**
 * Condition: a query has rows. With `exists`, PostgreSQL expected to find one of thousands soon, and read all
 * observations for each key: beside 12 million, the count did not end. It also compared each row with each contact.
 */
function isAny(query: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(select count(*) from (${query}) found) > 0`;
}
