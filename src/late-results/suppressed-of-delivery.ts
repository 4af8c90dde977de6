import { sql, type Transaction } from 'kysely';
import { areSuppressed, isHiddenId, keysOfRows, listedRows } from '../privacy/suppressions.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import type { Tables } from '../db/schema.ts';
import type { LockedAttempt, NamedContact } from './awaiting-call.ts';

/** People of a body who are on the suppression list. */
export interface SuppressedPeople {
  /** Their places in the body. */
  readonly people: ReadonlySet<number>;
  /** Their ids in the body. */
  readonly ids: ReadonlySet<string>;
}

/**
 * Who in a body is on the suppression list, decided for each delivered person: by their id, by any address that is
 * delivered with them, and by everything that the contacts are known by to whom they were assigned. Whoever is
 * delivered for the same contact, or under the same id, is the same person.
 *
 * Where a person of the call is on the list, or was erased, a stranger in the body can be them under another id.
 *
 * @param assigned for each person of the body the indexes of their contacts
 */
export async function suppressedOfDelivery(
  transaction: Transaction<Tables>,
  attempt: LockedAttempt,
  people: LateResult['people'],
  contacts: readonly NamedContact[],
  assigned: readonly (readonly number[])[],
): Promise<SuppressedPeople> {
  const keysOfContacts = contacts.flatMap(({ keys }, contact) => keys.map((key) => ({ contact, key })));
  const keysOfPeople = people.flatMap(({ id, emails }, person) => [
    ...(id === undefined ? [] : [{ person, key: `person:${id}` }]),
    ...emails.map(({ email }) => ({ person, key: `email:${email}` })),
  ]);
  const listed = await areSuppressed(
    transaction,
    [...keysOfContacts, ...keysOfPeople].map(({ key }) => key),
  );
  const listedPeople = new Set(
    keysOfPeople.flatMap(({ person }, index) => (listed[keysOfContacts.length + index] ? [person] : [])),
  );
  const listedIds = new Set([
    ...keysOfContacts.flatMap(({ contact }, index) => (listed[index] ? [contacts[contact]!.personId] : [])),
    ...[...listedPeople].flatMap((person) => assigned[person]!.map((own) => contacts[own]!.personId)),
    ...[...listedPeople].flatMap((person) => people[person]!.id ?? []),
  ]);
  const strangersAreTheirs = attempt.hasAnswer
    ? attempt.foundIds.some((id) => isHiddenId(id) || listedIds.has(id))
    : await askedForSuppressed(transaction, attempt);
  const known = new Set(attempt.foundIds);
  const isTheirs = (person: number): boolean => {
    const { id } = people[person]!;
    const own = assigned[person]!.map((contact) => contacts[contact]!.personId);
    const isStranger = own.length === 0 && (id === undefined || !known.has(id));
    return (
      listedPeople.has(person) ||
      (id !== undefined && listedIds.has(id)) ||
      own.some((personId) => listedIds.has(personId)) ||
      (isStranger && strangersAreTheirs)
    );
  };
  const theirs = new Set([...people.keys()].filter(isTheirs));
  return { people: theirs, ids: new Set([...theirs].flatMap((person) => people[person]!.id ?? [])) };
}

/** Whether a person whom a call asked for is on the list by now, or was erased. */
async function askedForSuppressed(
  transaction: Transaction<Tables>,
  { attemptId, runId }: LockedAttempt,
): Promise<boolean> {
  const rows = sql`select row_number from attempt_people where attempt_id = ${attemptId}`;
  const { rows: found } = await sql<{ any: boolean }>`
    select exists (${listedRows(keysOfRows(runId, rows))}) or exists (
      select 1 from run_rows where run_id = ${runId} and row_number in (${rows})
        and contact_id = 'erased:' || row_number) as any
  `.execute(transaction);
  return found[0]!.any;
}
