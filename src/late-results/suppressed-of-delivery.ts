import { sql, type Transaction } from 'kysely';
import { keysOfPeople, keysOfRows } from '../suppression/compared-keys.ts';
import { isHiddenId, listedRows, readListedRows } from '../suppression/suppression-list.ts';
import type { Outcome } from '../domain/runs/outcome.ts';
import type { LateResult } from '../service/answers/late-result.ts';
import type { Tables } from '../db/schema.ts';
import type { LockedAttempt, NamedRecipient } from './awaiting-call.ts';

export interface SuppressedPeople {
  readonly people: ReadonlySet<number>;
  readonly ids: ReadonlySet<string>;
}

/**
 * Finds the suppressed people of a body: by their id, by each address delivered with them, and by all keys of the
 * recipients to whom they are assigned. Entries for the same recipient or with the same id are the same person.
 *
 * If a person of the call is suppressed or erased, an unassigned person in the body may be that person under another
 * id, and counts as suppressed.
 *
 * @param assigned for each person of the body the indexes of their recipients
 */
export async function suppressedOfDelivery(
  transaction: Transaction<Tables>,
  attempt: LockedAttempt,
  people: LateResult['people'],
  recipients: readonly NamedRecipient[],
  assigned: readonly (readonly number[])[],
): Promise<SuppressedPeople> {
  const compared = [
    ...recipients.map(({ keys }) => keys),
    ...people.map(({ id, addresses }) => [
      ...(id === undefined ? [] : [`person:${id}`]),
      ...addresses.map((email) => `email:${email}`),
    ]),
  ].map((keys, number) => ({ number, keys }));
  const listed = await readListedRows(transaction, keysOfPeople(compared));
  const listedPeople = new Set([...people.keys()].filter((person) => listed.has(recipients.length + person)));
  const listedIds = new Set([
    ...recipients.flatMap(({ personId }, index) => (listed.has(index) ? [personId] : [])),
    ...[...listedPeople].flatMap((person) => assigned[person]!.map((own) => recipients[own]!.personId)),
    ...[...listedPeople].flatMap((person) => people[person]!.id ?? []),
  ]);
  const known = new Set(attempt.foundIds);
  const strangers = new Set(
    [...people.keys()].filter(
      (person) => assigned[person]!.length === 0 && !known.has(people[person]!.id ?? ''),
    ),
  );
  const strangersAreTheirs =
    attempt.foundIds.some((id) => isHiddenId(id) || listedIds.has(id)) ||
    (strangers.size > 0 && (await asksForSuppressed(transaction, attempt)));
  const isTheirs = (person: number): boolean => {
    const { id } = people[person]!;
    const own = assigned[person]!.map((recipient) => recipients[recipient]!.personId);
    return (
      listedPeople.has(person) ||
      (id !== undefined && listedIds.has(id)) ||
      own.some((personId) => listedIds.has(personId)) ||
      (strangers.has(person) && strangersAreTheirs)
    );
  };
  const theirs = new Set([...people.keys()].filter(isTheirs));
  return { people: theirs, ids: new Set([...theirs].flatMap((person) => people[person]!.id ?? [])) };
}

/**
 * Whether the call asked for a person who is now suppressed or erased. Leaves out people whom the service did not find.
 *
 * @param transaction holds the list's lock
 */
async function asksForSuppressed(
  transaction: Transaction<Tables>,
  { attemptId, runId }: Pick<LockedAttempt, 'attemptId' | 'runId'>,
): Promise<boolean> {
  const rows = sql`
    select row_number from attempt_people
    where attempt_id = ${attemptId} and outcome is distinct from ${'not_found' satisfies Outcome}`;
  const { rows: found } = await sql<{ any: boolean }>`
    select exists (${listedRows(keysOfRows(runId, rows))}) or exists (
      select 1 from run_rows where run_id = ${runId} and row_number in (${rows})
        and contact_id = 'erased:' || row_number) as any
  `.execute(transaction);
  return found[0]!.any;
}
