import { sql, type Transaction } from 'kysely';
import { parseEmail } from '../domain/identity/email-address.ts';
import type { LateContact } from '../people/contact-phones.ts';
import { areSuppressed, hidesSomebody, keysOfRows, listedRows } from '../privacy/suppressions.ts';
import type { Tables } from '../db/schema.ts';

export interface NamedContact extends LateContact {
  /** What the suppression list could know them by. */
  readonly keys: readonly string[];
}

interface AttemptOfDelivery {
  readonly attemptId: string;
  readonly runId: string;
  readonly foundIds: readonly string[];
}

/**
 * Ids of people of a delivery who are on the suppression list: by their id, by what their contact is known by, or by an address that
 * is delivered. Where somebody was taken out of the answer, or the answer was never recorded and somebody who was asked for was
 * taken out since, whoever else turns up can only be them.
 */
export async function suppressedOfDelivery(
  transaction: Transaction<Tables>,
  attempt: AttemptOfDelivery,
  people: readonly {
    readonly id: string | undefined;
    readonly emails: readonly { readonly email: string }[];
  }[],
  contacts: readonly NamedContact[],
): Promise<ReadonlySet<string>> {
  const named = people.flatMap(({ id, emails }) => (id === undefined ? [] : [{ id, emails }]));
  const keys = [
    ...named.flatMap(({ id, emails }) => [
      { personId: id, key: `person:${id}` },
      ...emails.flatMap(({ email }) => ({ personId: id, key: `email:${parseEmail(email) ?? email}` })),
    ]),
    ...contacts.flatMap((contact) => contact.keys.map((key) => ({ personId: contact.personId, key }))),
  ];
  const listed = await areSuppressed(
    transaction,
    keys.map(({ key }) => key),
  );
  const { foundIds } = attempt;
  const strangersAreTheirs =
    foundIds.length === 0 ? await askedForSuppressed(transaction, attempt) : hidesSomebody(foundIds);
  const strangers = strangersAreTheirs ? named.filter(({ id }) => !foundIds.includes(id)) : [];
  return new Set([
    ...keys.flatMap(({ personId }, index) => (listed[index] ? [personId] : [])),
    ...strangers.map(({ id }) => id),
  ]);
}

/** Whether somebody whom a call asked for is on the list by now, or was erased. */
async function askedForSuppressed(
  transaction: Transaction<Tables>,
  { attemptId, runId }: AttemptOfDelivery,
): Promise<boolean> {
  const rows = sql`select row_number from attempt_people where attempt_id = ${attemptId}`;
  const { rows: found } = await sql<{ any: boolean }>`
    select exists (${listedRows(keysOfRows(runId, rows))}) or exists (
      select 1 from run_rows where run_id = ${runId} and row_number in (${rows}) and contact_id = 'erased:' || row_number) as any
  `.execute(transaction);
  return found[0]!.any;
}
