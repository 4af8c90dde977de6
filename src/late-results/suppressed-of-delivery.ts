import { sql, type Transaction } from 'kysely';
import { keysOfPeople, keysOfRows } from '../suppression/compared-keys.ts';
import { isHiddenId, listedRows, readListedRows } from '../suppression/suppression-list.ts';
import type { Outcome } from '../domain/runs/outcome.ts';
import type { DeliveredPerson } from '../service/answers/late-result.ts';
import { keyOfId } from '../people/observation.ts';
import type { Tables } from '../db/schema.ts';
import type { LockedCall } from './expected-results.ts';

/**
 * Finds the suppressed people of a delivery: by their id, by each e-mail delivered with them, and by all keys that
 * answers and rows have for the people whom they are. Entries of one person are suppressed together.
 *
 * If the call asked for somebody who is suppressed or erased, a person who is not assigned may be that person under
 * another id, and counts as suppressed.
 *
 * @param personIds for each person of the delivery the id of the person who gets the results; undefined: nobody
 * @returns indexes in `people`
 */
export async function suppressedOfDelivery(
  transaction: Transaction<Tables>,
  call: LockedCall,
  people: readonly DeliveredPerson[],
  personIds: readonly (string | undefined)[],
): Promise<ReadonlySet<number>> {
  const isUnnamed = (number: number): boolean => !call.hasAnswer || personIds[number] === undefined;
  const isUnnamedSuppressed =
    people.some((_, number) => isUnnamed(number)) && (await asksForSuppressed(transaction, call));
  const keys = await keysOfAssigned(transaction, call, personIds);
  const compared = people.map(({ id, addresses }, number) => ({
    number,
    keys: [
      ...(id === undefined ? [] : [`person:${id}`]),
      ...addresses.map((email) => `email:${email}`),
      ...(keys.get(number) ?? []),
    ],
  }));
  const listed = await readListedRows(transaction, keysOfPeople(compared));
  const isListed = (number: number): boolean =>
    listed.has(number) || isHiddenId(personIds[number] ?? '') || (isUnnamed(number) && isUnnamedSuppressed);
  const listedIds = new Set(
    people.flatMap(({ id }, number) => (isListed(number) ? [id, personIds[number]] : [])),
  );
  listedIds.delete(undefined);
  return new Set(
    people.flatMap(({ id }, number) =>
      isListed(number) || listedIds.has(id) || listedIds.has(personIds[number]) ? [number] : [],
    ),
  );
}

/** The keys of the rows that were accepted as the people of a delivery, and the ids of these people, by index. */
async function keysOfAssigned(
  transaction: Transaction<Tables>,
  { attemptId }: LockedCall,
  personIds: readonly (string | undefined)[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const assigned = personIds.flatMap((personId, number) =>
    personId === undefined ? [] : [{ number, personId, personKey: keyOfId(personId) }],
  );
  const { rows } = await sql<{ number: number; keys: readonly string[] }>`
    select a.number, array_remove(array_agg(own.identity_key) || a."personKey", null) as keys
    from jsonb_to_recordset(${JSON.stringify(assigned)}::jsonb)
      as a (number integer, "personId" text, "personKey" text)
    left join attempt_people p on p.attempt_id = ${attemptId} and p.person_id = a."personId"
    left join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
    left join lateral unnest(r.keys || ('domain:' || r.domain)) as own (identity_key) on true
    group by a.number, a."personKey"
  `.execute(transaction);
  return new Map(rows.map(({ number, keys }) => [number, keys]));
}

/** Whether the call asked for a person who is now suppressed or erased. Leaves out people whom nobody found. */
async function asksForSuppressed(
  transaction: Transaction<Tables>,
  { attemptId, runId, expected }: LockedCall,
): Promise<boolean> {
  if (expected.some(({ personId }) => isHiddenId(personId))) return true;
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
