import { sql, type Kysely, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { isWeak } from '../../domain/identity/identity-evidence.ts';
import { matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import { identifyingOf } from '../../keys/identifying-key.ts';
import { readDoubtfulContacts, readOpenContacts, type PeopleKeys } from './contacts-by-match-key.ts';
import type { RowKey } from '../../keys/contact-key.ts';
import { contactsOfRun, readRows } from './newest-rows.ts';
import { applyChanges } from './apply-changes.ts';
import { hasDecisions } from '../decisions/contact-decisions.ts';
import { readMatchedContacts, type ContactState } from './contact-states.ts';
import { findChanges, type ContactChange } from './find-changes.ts';

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
  const made = await applyChanges(transaction, { ...deciding, runId: null }, changes);
  const same = await readContactsOfSame(transaction, deciding.service, made);
  if (same.length > 0) await decide(transaction, deciding, same);
}

/**
 * Reads contacts of ended runs that have no person, and share an identifier with contacts that got a person by weak
 * evidence: the person does not have this identifier, but these contacts can be the person too.
 */
export async function readContactsOfSame(
  database: Kysely<Tables>,
  service: string,
  changes: readonly ContactChange[],
): Promise<ContactState[]> {
  const filled = changes.filter((change) => change.kind === 'fill' && isWeak(change.evidence));
  const keys = identifyingOf(filled.flatMap(({ contact }) => contact.compared.keys));
  const identifying = [...new Set(matchKeysOfIdentityKeys(keys))];
  return readOpenContacts(database, service, { all: identifying, identifying });
}
