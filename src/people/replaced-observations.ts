import { isDeepStrictEqual } from 'node:util';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { digest, withDigestLocked } from './digest.ts';
import { queuePeople } from './digest-queue.ts';
import { foldObservations, type Observation } from './fold.ts';
import { personReferenceText, readObservations, type PersonReference } from './people-tables.ts';

const peoplePerBatch = 1_000;
const first: PersonReference = { service: '', personKey: '' };

/**
 * Removes observations that are older than a time and that newer observations fully replace. The current values of
 * people stay the same.
 *
 * @param signal aborts between two batches; undefined: observations are only counted
 * @returns the number of removed observations
 */
export async function pruneObservations(
  warehouse: Warehouse,
  before: RawBuilder<Date | null>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { database } = warehouse;
  let count = 0;
  for (let after: PersonReference | undefined = first; after !== undefined && signal?.aborted !== true;) {
    const from: PersonReference = after;
    const find = (transaction: Transaction<Tables>) => findReplaced(transaction, before, from);
    const batch: Awaited<ReturnType<typeof findReplaced>> = await (signal
      ? withDigestLocked(database, async (transaction) => removeBatch(transaction, await find(transaction)))
      : database.transaction().execute(find));
    count += batch.replaced.length;
    after = batch.last;
  }
  if (signal) await digest(warehouse, signal);
  return count;
}

/** Removes observations and queues their people, because their history can change. */
async function removeBatch<Batch extends Awaited<ReturnType<typeof findReplaced>>>(
  transaction: Transaction<Tables>,
  batch: Batch,
): Promise<Batch> {
  const ids = batch.replaced.map(({ observationId }) => observationId);
  await sql`delete from observation_log where observation_id = any(${ids})`.execute(transaction);
  await queuePeople(transaction, batch.replaced);
  return batch;
}

/** Finds observations of the next people without which the computed values stay the same. */
async function findReplaced(
  transaction: Transaction<Tables>,
  before: RawBuilder<Date | null>,
  after: PersonReference,
) {
  const people = await readOld(transaction, before, after);
  const observed = await readObservations(
    transaction,
    people.filter(({ ids }) => ids.length > 0),
  );
  const replaced = people.flatMap(({ ids, ...person }) => {
    let observations = observed.get(personReferenceText(person))?.observations ?? [];
    return ids.flatMap((id) => {
      const rest = observations.filter(({ observationId }) => observationId !== id);
      if (rest.length === 0 || !isDeepStrictEqual(currentOf(rest), currentOf(observations))) return [];
      observations = rest;
      return [{ ...person, observationId: id }];
    });
  });
  // A missing last person tells the caller that no people are left.
  return { replaced, last: people.length < peoplePerBatch ? undefined : people.at(-1) };
}

/**
 * Reads the next people with several observations, in index order, with the observations of each person that are older
 * than a time and that no current value comes from.
 */
async function readOld(
  transaction: Transaction<Tables>,
  before: RawBuilder<Date | null>,
  after: PersonReference,
) {
  const { rows } = await sql<PersonReference & { readonly ids: readonly number[] }>`
    select n.service, n.person_key as "personKey", array(
      select o.observation_id::float8
      from observation_log o
      where o.person_key = n.person_key and o.service = n.service and o.recorded_at < ${before}
        and not exists (
          select from people p
          cross join lateral jsonb_each_text(p.said_by) as said (field_group, id)
          where p.person_key = n.person_key and p.service = n.service and said.id::bigint = o.observation_id)
        -- A company's values come from its newest observation, which must stay.
        and o.observation_id is distinct from (
          select c.observation_id
          from observation_log c
          where c.service = o.service and c.organization_key = o.organization_key and c.organization_facts is not null
          order by c.asked_at desc, c.observation_id desc
          limit 1)
      order by o.observation_id) as ids
    from (
      select person_key, service
      from observation_log
      where (person_key, service) > (${after.personKey}, ${after.service})
      group by person_key, service
      having count(*) > 1
      order by person_key, service
      limit ${peoplePerBatch}
    ) n
    order by n.person_key, n.service
  `.execute(transaction);
  return rows;
}

/** The current values of a person without the earlier ones. */
function currentOf(observations: readonly Observation[]) {
  const { history: _, ...current } = foldObservations(observations);
  return current;
}
