import { isDeepStrictEqual } from 'node:util';
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { digest, inDigest } from './digest.ts';
import { queuePeople } from './digest-queue.ts';
import { fold, type FoldedPerson, type Observation } from './fold.ts';

import { nameOfPerson, readObservations, type PersonName } from './people-tables.ts';

const observationsPerBatch = 1_000;

/** Candidates that are older than a time. @param before null: none */
const oldCandidates = (before: RawBuilder<Date | null>, after: string): RawBuilder<unknown> => sql`
  from prune_candidates c
  join observation_log o using (observation_id)
  where c.recorded_at < ${before} and c.observation_id > ${after}::bigint`;

interface Candidate extends PersonName {
  readonly observationId: number;
}

async function readCandidates(
  database: Kysely<Tables>,
  before: RawBuilder<Date | null>,
  after: string,
): Promise<readonly Candidate[]> {
  const { rows } = await sql<Candidate>`
    select o.observation_id::float8 as "observationId", o.service, o.person_key as "personKey"
    ${oldCandidates(before, after)}
    order by o.observation_id
    limit ${observationsPerBatch}
  `.execute(database);
  return rows;
}

/** Counts replaced observations that are older than a time. @param before null: none */
export async function countReplaced(
  { database }: Warehouse,
  before: RawBuilder<Date | null>,
): Promise<number> {
  let count = 0;
  for (let after = '0'; ;) {
    const [replaced, last] = await database.transaction().execute(async (transaction) => {
      const candidates = await readCandidates(transaction, before, after);
      return [await findReplaced(transaction, candidates), candidates.at(-1)] as const;
    });
    count += replaced.length;
    if (!last) return count;
    after = String(last.observationId);
  }
}

/**
 * Removes observations that are older than a time and that newer observations have replaced: without them, nobody's
 * current values change. The newest observation of a value stays.
 *
 * @param before null: nothing is removed
 * @param signal ends it between two batches
 * @returns how many were removed
 */
export async function removeReplaced(
  warehouse: Warehouse,
  before: RawBuilder<Date | null>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let after: string | undefined = '0'; after !== undefined && !signal.aborted;) {
    const from: string = after;
    const batch = await inDigest(warehouse.database, async (transaction) => {
      const candidates = await readCandidates(transaction, before, from);
      const replaced = await findReplaced(transaction, candidates);
      await sql`
        delete from observation_log where observation_id = any(${replaced.map(({ observationId }) => observationId)})
      `.execute(transaction);
      await sql`
        delete from prune_candidates
        where observation_id = any(${candidates.map(({ observationId }) => observationId)})
      `.execute(transaction);
      await queuePeople(transaction, replaced);
      return { count: replaced.length, last: candidates.at(-1) };
    });
    removed += batch.count;
    after = batch.last && String(batch.last.observationId);
  }
  await digest(warehouse, signal);
  return removed;
}

/** Finds the candidates without whom the current values of their people stay the same. */
async function findReplaced(
  transaction: Transaction<Tables>,
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> {
  const people = [...new Map(candidates.map((each) => [nameOfPerson(each), each])).values()];
  const observed = await readObservations(transaction, people);
  const { rows } = await sql<{ id: number }>`
    select observation_id::float8 as id from organization_values
    where observation_id = any(${candidates.map(({ observationId }) => observationId)})
  `.execute(transaction);
  const ofCompanies = new Set(rows.map(({ id }) => id));
  return people.flatMap((person) => {
    let observations = observed.get(nameOfPerson(person))?.observations ?? [];
    const replaced: Candidate[] = [];
    for (const candidate of candidates.filter((each) => nameOfPerson(each) === nameOfPerson(person))) {
      const rest = observations.filter(({ observationId }) => observationId !== candidate.observationId);
      if (rest.length === 0 || ofCompanies.has(candidate.observationId)) continue;
      if (!isDeepStrictEqual(currentOf(rest), currentOf(observations))) continue;
      observations = rest;
      replaced.push(candidate);
    }
    return replaced;
  });
}

function currentOf(observations: readonly Observation[]): Omit<FoldedPerson, 'history'> {
  const { history: _, ...current } = fold(observations);
  return current;
}
