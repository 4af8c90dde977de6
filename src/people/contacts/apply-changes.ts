import { sql, type Kysely, type Transaction } from 'kysely';
import { identityColumns } from '../../domain/identity/identity.ts';
import { keepsMatchKeys } from '../../domain/identity/identity-evidence.ts';
import { keysOfPerson, matchKeysOfMatch } from '../../domain/identity/match-keys.ts';
import { keysInLog, keysOfPeople, keysOfRows } from '../../suppression/compared-keys.ts';
import { readListedRows } from '../../suppression/suppression-list.ts';
import type { Tables } from '../../db/schema.ts';
import { appendToLog, type MatchDecision } from '../log/append-to-log.ts';
import { contactsOfRun, readRows, readMatchedContacts, type ContactState } from './contact-states.ts';
import { withoutFill, findChanges, type ContactChange, type ContactFill } from './find-changes.ts';
import { lockLog, project } from '../rebuild.ts';
import { reuseObservations } from '../log/reuse-observations.ts';
import {
  readDoubtfulContacts,
  readOpenContacts,
  readPeopleKeys,
  type PeopleKeys,
} from './contacts-by-match-key.ts';
import type { RowKey } from '../../keys/contact-key.ts';
import { hasDecisions } from '../decisions/contact-decisions.ts';

/**
 * Appends changes of contacts to the log. People on the suppression list are given to no contact.
 *
 * @param decided.runId the run that led to the decisions; null: the run of each contact's row
 * @param decided.whileUndone the run whose undo led to them
 * @returns the changes that were made
 */
export async function applyChanges(
  transaction: Transaction<Tables>,
  decided: {
    readonly service: string;
    readonly runId: string | null;
    readonly whileUndone?: string | undefined;
  },
  changes: readonly ContactChange[],
): Promise<readonly ContactChange[]> {
  const { service, runId, whileUndone } = decided;
  const made = await withoutListed(transaction, service, changes);
  const matches = made.flatMap((change): MatchDecision[] => {
    if (change.kind === 'fill') return [matchOf(change, whileUndone)];
    return change.kind === 'withdraw'
      ? [withdrawalOf(change.contact, change.reason, runId, whileUndone)]
      : [];
  });
  await lockLog(transaction, {
    service,
    people: matches.flatMap(({ person_key: key }) => key ?? []),
    contacts: matches.map(({ source, contact_id: contactId }) => ({ source, contactId })),
  });
  const reused: string[] = [];
  for (const run of new Set(made.map(({ contact }) => contact.runId))) {
    const theirs = made.filter(({ contact }) => contact.runId === run);
    const kept = theirs.flatMap(({ kind, contact }) => (kind === 'keep' ? contact.rowNumber : []));
    await recordCells(transaction, { runId: run, source: theirs[0]!.contact.source }, kept);
    const personKeys = theirs.flatMap((change) =>
      change.kind === 'fill' && change.isUndone ? change.person.personKey : [],
    );
    await reuseObservations(transaction, { runId: run, service, personKeys });
    reused.push(...personKeys);
  }
  if (reused.length > 0) await project(transaction, { service, people: reused, contacts: [] });
  await appendToLog(transaction, service, { observations: [], matches });
  return made;
}

/** A decision that a contact is a person whom no call for this decision found. */
function matchOf({ contact, person, evidence }: ContactFill, whileUndone: string | undefined): MatchDecision {
  return {
    ...entryOf(contact, whileUndone),
    person_key: person.personKey,
    evidence,
    run_id: contact.runId,
    row_number: contact.rowNumber,
    match_keys: keepsMatchKeys(evidence) ? matchKeysOfMatch(contact.compared.identity, person.person) : null,
  };
}

/** A decision that a contact is no longer its person. @param runId the run that led to it; null: its own */
export function withdrawalOf(
  contact: ContactState,
  reason: string,
  runId: string | null,
  whileUndone?: string,
): MatchDecision {
  const isOwn = runId === null || runId === contact.runId;
  return {
    ...entryOf(contact, whileUndone),
    person_key: null,
    evidence: reason,
    run_id: runId ?? contact.runId,
    row_number: isOwn ? contact.rowNumber : 0,
    match_keys: null,
  };
}

function entryOf({ source, contactId, ignoredRuns }: ContactState, whileUndone: string | undefined) {
  const runs = [...new Set([...ignoredRuns, ...(whileUndone === undefined ? [] : [whileUndone])])];
  return {
    source,
    contact_id: contactId,
    asked: false,
    attempt_id: null,
    ...(runs.length > 0 && { while_undone: runs }),
    decided_at: 'now',
  };
}

/**
 * Gives no contact a person who is on the suppression list, by the contact's row or by the person. The contact loses
 * its present person, who is somebody else.
 */
async function withoutListed(
  database: Kysely<Tables>,
  service: string,
  changes: readonly ContactChange[],
): Promise<readonly ContactChange[]> {
  const fills = changes.filter((change) => change.kind === 'fill');
  const listed = new Set<ContactState>();
  for (const runId of new Set(fills.map(({ contact }) => contact.runId))) {
    const theirs = fills.filter(({ contact }) => contact.runId === runId);
    const numbers = theirs.map(({ contact }) => contact.rowNumber);
    const filled = theirs.map(({ contact, person }) => ({
      number: contact.rowNumber,
      keys: keysOfPerson(person.person),
    }));
    const people = theirs.map(({ contact, person }) => ({
      rowNumber: contact.rowNumber,
      key: person.personKey,
    }));
    const found = await readListedRows(
      database,
      sql`
        ${keysOfRows(runId, sql`select unnest(${numbers}::int[])`)}
        union all
        ${keysOfPeople(filled)}
        union all
        ${keysInLog(
          service,
          sql`select * from unnest(${people.map(({ rowNumber }) => rowNumber)}::int[],
            ${people.map(({ key }) => key)}::text[]) as filled (row_number, person_key)`,
        )}`,
    );
    for (const { contact } of theirs) if (found.has(contact.rowNumber)) listed.add(contact);
  }
  return changes.flatMap((change) =>
    change.kind === 'fill' && listed.has(change.contact) ? withoutFill(change) : change,
  );
}

/** Records the newest cells of contacts that keep their person: the next export is compared with them. */
async function recordCells(
  transaction: Transaction<Tables>,
  { runId, source }: { readonly runId: string; readonly source: string },
  rowNumbers: readonly number[],
): Promise<void> {
  if (rowNumbers.length === 0) return;
  const columns = sql.raw(identityColumns.join(', '));
  await sql`
    insert into contact_records (source, contact_id, run_id, row_number, keys, ${columns})
    select ${source}, contact_id, run_id, row_number, keys, ${columns}
    from run_rows
    where run_id = ${runId} and row_number = any(${rowNumbers}::int[])
    on conflict do nothing
  `.execute(transaction);
}

/** The service that decisions are about, and what leads to them. */
interface Deciding {
  readonly service: string;
  /** The run whose undo leads to the decisions. */
  readonly whileUndone?: string | undefined;
}

/**
 * Decides anew about contacts that could be some people: these people, or their rivals, became known or are no longer
 * known. Each decision is an entry of the run of the contact's own row.
 */
export async function decideAffected(
  transaction: Transaction<Tables>,
  deciding: Deciding,
  keys: PeopleKeys,
): Promise<void> {
  for (const read of [readDoubtfulContacts, readOpenContacts])
    await decide(transaction, deciding, await read(transaction, deciding.service, keys));
}

/** Decides anew about contacts that could be people of whom more is known. */
export async function decideAboutPeople(
  transaction: Transaction<Tables>,
  service: string,
  personKeys: readonly string[],
): Promise<void> {
  if (personKeys.length === 0) return;
  const theirs = sql<boolean>`o.person_key = any(${personKeys}::text[])`;
  await decideAffected(transaction, { service }, await readPeopleKeys(transaction, service, theirs));
}

/** Decides anew about the contacts of rows, after an undo or a revert. */
export async function decideRows(
  transaction: Transaction<Tables>,
  deciding: Deciding,
  rows: readonly RowKey[],
): Promise<void> {
  await decide(transaction, deciding, await readRows(transaction, deciding.service, rows, true));
}

/**
 * Applies the decisions of people (`enrich review`) to contacts of a run that was undone or restored: an entry of the
 * log from before the decision can count again. Retention may have removed the rows of these contacts.
 */
export async function applyDecisions(
  transaction: Transaction<Tables>,
  deciding: Deciding,
  runId: string,
): Promise<void> {
  const decided = sql`
    select a.source, a.contact_id
    from (${contactsOfRun(runId)}) a
    where ${hasDecisions(sql`a.source`, sql`a.contact_id`)}`;
  await decide(transaction, deciding, await readMatchedContacts(transaction, deciding.service, decided));
}

async function decide(
  transaction: Transaction<Tables>,
  deciding: Deciding,
  contacts: readonly ContactState[],
): Promise<void> {
  const changes = await findChanges(transaction, deciding.service, contacts);
  await applyChanges(transaction, { ...deciding, runId: null }, changes);
}
