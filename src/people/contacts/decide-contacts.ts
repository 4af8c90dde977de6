import type { Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import {
  readDoubtfulContacts,
  readOpenContacts,
  readRows,
  type PeopleKeys,
  type RowName,
} from './affected-contacts.ts';
import { applyChanges } from './apply-changes.ts';
import type { ContactState } from './contact-states.ts';
import { findChanges } from './find-changes.ts';

/** What decisions about contacts of any run are entries of. */
interface Deciding {
  readonly service: string;
  /** The run whose undo leads to the decisions. */
  readonly whileUndone?: string | undefined;
}

/**
 * Decides anew about contacts that could be people who are known again, or no longer, or whose rivals are. What they
 * become is an entry of the run of their own row.
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
  rows: readonly RowName[],
): Promise<void> {
  await decide(transaction, deciding, await readRows(transaction, deciding.service, rows, true));
}

async function decide(
  transaction: Transaction<Tables>,
  deciding: Deciding,
  contacts: readonly ContactState[],
): Promise<void> {
  const changes = await findChanges(transaction, deciding.service, contacts);
  await applyChanges(transaction, { ...deciding, runId: null }, changes);
}
