import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import {
  readDoubtfulContacts,
  readOpenContacts,
  readPeopleKeys,
  type PeopleKeys,
} from './contacts-by-match-key.ts';
import type { RowKey } from '../../keys/contact-key.ts';
import { contactsOfRun, readRows } from './newest-rows.ts';
import { applyChanges } from './apply-changes.ts';
import { hasDecisions } from '../decisions/contact-decisions.ts';
import { readMatchedContacts, type ContactState } from './contact-states.ts';
import { findChanges } from './find-changes.ts';

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
