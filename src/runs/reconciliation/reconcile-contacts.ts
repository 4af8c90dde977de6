import { sql, type Transaction } from 'kysely';
import { contradictionOf, matchKnown } from '../../domain/identity/contact-validity.ts';
import { identityOfColumns } from '../../domain/identity/identity-columns.ts';
import { appendToLog, type MatchDecision } from '../../people/append-to-log.ts';
import { emailHashes } from '../../people/email-hashes.ts';
import { lockLog } from '../../people/project.ts';
import { recordCells } from '../../people/record-cells.ts';
import { reuseObservations } from '../../people/reuse-observations.ts';
import { lockSuppressionsShared } from '../../privacy/suppressions.ts';
import type { Warehouse } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { contactsElsewhere } from './contacts-elsewhere.ts';
import {
  readChangedContacts,
  readKnownCandidates,
  type RowAndPerson,
  type RowsOfRun,
} from './contacts-to-reconcile.ts';
import { getRun } from '../runs.ts';
import { withdrawContested } from './withdraw-contested.ts';

/** Contacts that changed without a call, because of the newest cells of a run's contacts. */
export interface ReconciledContacts {
  /** Contacts that got the data of a known person. */
  readonly filled: number;
  /**
   * Contacts that lost the data of their former person: their cells contradict it, or another contact could be that
   * person.
   */
  readonly withdrawn: number;
}

const rowsPerBatch = 1_000;

/**
 * Compares the contacts of a run with the known people, before and after its calls.
 *
 * - A contact whose cells contradict its person loses that person's data.
 * - A contact of any source that has its person by weak evidence loses the data if a row of the run could be that
 *   person as well.
 * - A contact without a person gets the data of a known person whom its cells identify, whichever row, file, source or
 *   run paid for it. So do contacts of other runs and sources whose person this run has found.
 *
 * A second call changes nothing. Answers of an undone run are used as well, because they were paid for.
 *
 * @param signal ends it between two batches
 */
export async function reconcileContacts(
  warehouse: Warehouse,
  runId: string,
  signal: AbortSignal,
): Promise<ReconciledContacts> {
  const run = await getRun(warehouse, runId);
  const source = run.source ?? 'generic';
  const { service } = run.options;
  const repeated = await repeatedRecords(warehouse, runId);
  let filled = 0;
  let withdrawn = 0;
  for (let after = 0; after < run.rowsStaged; after += rowsPerBatch) {
    signal.throwIfAborted();
    const rows = sql<boolean>`(r.row_number > ${after} and r.row_number <= ${after + rowsPerBatch}
      and r.row_number <> all (${repeated}::int[]))`;
    const range = { runId, source, service, rows };
    // One transaction each: contacts are locked before people, and a joint transaction would break that order.
    withdrawn += await inBatch(warehouse, (transaction) => withdrawContradicted(transaction, range));
    withdrawn += await inBatch(warehouse, (transaction) => withdrawContested(transaction, range));
    filled += await inBatch(warehouse, (transaction) => fillKnown(transaction, range));
  }
  for await (const range of contactsElsewhere(warehouse.database, { runId, service })) {
    signal.throwIfAborted();
    filled += await inBatch(warehouse, (transaction) => fillKnown(transaction, range));
  }
  return { filled, withdrawn };
}

/** The suppression list is locked first: an erasure commits before a batch is read or after it is written. */
async function inBatch(
  { database }: Warehouse,
  work: (transaction: Transaction<Tables>) => Promise<number>,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    await lockSuppressionsShared(transaction);
    return work(transaction);
  });
}

/** Rows that repeat the record id of an earlier row of the file. */
async function repeatedRecords({ database }: Warehouse, runId: string): Promise<number[]> {
  const { rows } = await sql<{ row_number: number }>`
    select row_number from (
      select row_number, row_number() over (partition by contact_id order by row_number) as place
      from run_rows
      where run_id = ${runId}
    ) placed
    where place > 1
  `.execute(database);
  return rows.map(({ row_number }) => row_number);
}

async function withdrawContradicted(transaction: Transaction<Tables>, range: RowsOfRun): Promise<number> {
  const changed = await readChangedContacts(transaction, range);
  if (changed.length === 0) return 0;
  const decided = changed.map((row) => ({
    row,
    contradiction: contradictionOf(identityOfColumns(row), row.person, emailHashes),
  }));
  const valid = decided.filter(({ contradiction }) => contradiction === undefined);
  await recordCells(
    transaction,
    range,
    valid.map(({ row }) => row.row_number),
  );
  const withdrawn = decided.flatMap(({ row, contradiction }) =>
    contradiction === undefined ? [] : [decisionOf(range, row, null, contradiction)],
  );
  await appendToLog(transaction, range.service, { observations: [], matches: withdrawn });
  return withdrawn.length;
}

async function fillKnown(transaction: Transaction<Tables>, range: RowsOfRun): Promise<number> {
  const candidates = new Map<number, RowAndPerson[]>();
  for (const each of await readKnownCandidates(transaction, range))
    candidates.set(each.row_number, [...(candidates.get(each.row_number) ?? []), each]);
  if (candidates.size === 0) return 0;
  const notes: { rowNumber: number; note: string }[] = [];
  const matches: MatchDecision[] = [];
  const undone = new Set<string>();
  for (const [rowNumber, people] of candidates) {
    const match = matchKnown(identityOfColumns(people[0]!), people, emailHashes);
    if (match.kind === 'none') {
      notes.push({ rowNumber, note: `not filled: ${match.reason}` });
      continue;
    }
    const person = people.find(({ personKey }) => personKey === match.personKey)!;
    if (person.isUndone) undone.add(person.personKey);
    matches.push(decisionOf(range, person, match.personKey, match.evidence));
    notes.push({ rowNumber, note: 'filled without a call' });
  }
  await lockLog(transaction, {
    service: range.service,
    people: matches.flatMap(({ person_key: key }) => (key === null ? [] : [key])),
    contacts: matches.map(({ contact_id: contactId }) => ({ source: range.source, contactId })),
  });
  await reuseObservations(transaction, { ...range, personKeys: [...undone] });
  await appendToLog(transaction, range.service, { observations: [], matches });
  await noteRows(transaction, range.runId, notes);
  return matches.length;
}

function decisionOf(
  { runId, source }: RowsOfRun,
  row: RowAndPerson,
  personKey: string | null,
  evidence: string,
): MatchDecision {
  return {
    source,
    contact_id: row.contact_id,
    person_key: personKey,
    evidence,
    asked: false,
    run_id: runId,
    attempt_id: null,
    row_number: row.row_number,
    match_keys: null,
    decided_at: 'now',
  };
}

/** Notes in a row's reason whether its contact was filled, in place of an earlier note. */
async function noteRows(
  transaction: Transaction<Tables>,
  runId: string,
  notes: readonly { readonly rowNumber: number; readonly note: string }[],
): Promise<void> {
  await sql`
    update run_rows r
    set reason = concat_ws(
      '; ',
      nullif(regexp_replace(r.reason, '(; |^)(not filled: .*|filled without a call)$', ''), ''),
      n.note)
    from unnest(${notes.map(({ rowNumber }) => rowNumber)}::int[], ${notes.map(({ note }) => note)}::text[])
      as n (row_number, note)
    where r.run_id = ${runId} and r.row_number = n.row_number
  `.execute(transaction);
}
