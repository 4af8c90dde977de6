import { isDeepStrictEqual, promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { sql, type Kysely } from 'kysely';
import type { DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import type { Warehouse } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';
import { contentOf } from '../../late-results/deliveries.ts';
import { keyOfId, factsOfAnswer, factsOfLateResult, type ObservedFacts } from '../../people/observation.ts';
import { digest } from '../../people/digest.ts';
import { rewriteObservations } from '../../people/replaced-observations.ts';
import { writeAboutPeople } from '../../suppression/write-about-people.ts';
import { readBulkAnswer } from '../../service/answers/bulk-answer.ts';
import { operations } from '../../service/call-operation.ts';
import { ServiceFailure } from '../../service/failures/failure.ts';

/** How many stored bodies were read again, and what changed. */
export interface ReadAgainFigures {
  readonly bodies: number;
  /** Observations that say something else than before. */
  readonly changed: number;
  /** False: stopped before every body was read. */
  readonly complete: boolean;
}

type Kind = 'answer' | DeliveryKind;

interface StoredBody {
  /** Of the attempt or the delivery. */
  readonly id: string;
  readonly service: string;
  readonly body: Buffer;
  readonly encoding: string | null;
}

/** What a body says of each person, by id. Leaves out people of whom the body says different things. */
type FactsById = ReadonlyMap<string, (kind: Kind) => ObservedFacts>;

/** An answer is up to 1 MB. */
const bodiesPerBatch = 20;

const decompress = promisify(gunzip);

/**
 * Reads the stored bodies of answers and deliveries again into the observations that came from them, for a release that
 * reads more fields. Makes no call. Reading again changes nothing.
 *
 * People without an id, and bodies that retention or an erasure has removed, stay as they are. So do people of whom one
 * body says different things: it is not known which of them an observation has.
 *
 * @param signal ends it between two batches
 */
export async function readAnswersAgain(warehouse: Warehouse, signal: AbortSignal): Promise<ReadAgainFigures> {
  let [bodies, changed] = [0, 0];
  for (const source of [
    { column: 'attempt_id', next: answersAfter, read: readAnswer },
    { column: 'delivery_id', next: deliveriesAfter, read: readDelivery },
  ]) {
    for (let after: string | undefined = ''; after !== undefined;) {
      if (signal.aborted) return { bodies, changed, complete: false };
      const stored: readonly StoredBody[] = await source.next(warehouse.database, after);
      for (const each of stored)
        changed += await rewrite(warehouse, source.column, each, await source.read(each));
      bodies += stored.length;
      after = stored.length < bodiesPerBatch ? undefined : stored.at(-1)!.id;
    }
  }
  const { complete } = await digest(warehouse, signal);
  return { bodies, changed, complete };
}

async function answersAfter(database: Kysely<Tables>, after: string): Promise<readonly StoredBody[]> {
  const { rows } = await sql<StoredBody>`
    select b.attempt_id as id, r.options ->> 'service' as service, b.body_gzip as body, null as encoding
    from raw_answers b
    join attempts a using (attempt_id)
    join runs r using (run_id)
    where b.attempt_id > ${after}
    order by b.attempt_id
    limit ${bodiesPerBatch}
  `.execute(database);
  return rows;
}

async function deliveriesAfter(database: Kysely<Tables>, after: string): Promise<readonly StoredBody[]> {
  const { rows } = await sql<StoredBody>`
    select d.delivery_id as id, r.options ->> 'service' as service, d.body, d.content_encoding as encoding
    from webhook_deliveries d
    join runs r using (run_id)
    where d.delivery_id > ${after} and d.status = 'applied' and d.body is not null
    order by d.delivery_id
    limit ${bodiesPerBatch}
  `.execute(database);
  return rows;
}

/** @returns no person if the body is no answer: it was kept although it could not be read */
async function readAnswer({ body }: StoredBody): Promise<FactsById> {
  const raw = await decompress(body);
  try {
    const answer = { status: 200, headers: {}, body: raw, receivedAt: 0 };
    const { matches, waterfall } = readBulkAnswer(answer, operations.bulkMatch);
    const people = matches.flatMap((person): Named<ObservedFacts>[] => {
      if (person === null) return [];
      const facts = factsOfAnswer(person, waterfall);
      return facts.person_id === null ? [] : [[facts.person_id, facts]];
    });
    return byId(people, (facts) => facts);
  } catch (error) {
    if (error instanceof ServiceFailure) return new Map();
    throw error;
  }
}

async function readDelivery({ body, encoding }: StoredBody): Promise<FactsById> {
  const content = await contentOf({ body, contentEncoding: encoding });
  const people = (content?.people ?? []).flatMap((person): Named<typeof person>[] =>
    person.id === undefined ? [] : [[person.id, person]],
  );
  return byId(people, (person, id, kind) =>
    factsOfLateResult(id, kind === 'answer' ? content!.kind : kind, person),
  );
}

type Named<Person> = readonly [id: string, person: Person];

function byId<Person>(
  people: readonly Named<Person>[],
  factsOf: (person: Person, id: string, kind: Kind) => ObservedFacts,
): FactsById {
  const differing = new Set<string>();
  const found = new Map<string, Person>();
  for (const [id, person] of people) {
    if (found.has(id) && !isDeepStrictEqual(found.get(id), person)) differing.add(id);
    found.set(id, person);
  }
  return new Map(
    [...found].flatMap(([id, person]): [string, (kind: Kind) => ObservedFacts][] =>
      differing.has(id) ? [] : [[id, (kind) => factsOf(person, id, kind)]],
    ),
  );
}

async function rewrite(
  { database }: Warehouse,
  column: string,
  { id, service }: StoredBody,
  factsById: FactsById,
): Promise<number> {
  if (factsById.size === 0) return 0;
  return writeAboutPeople(database, async (transaction) => {
    const { rows } = await sql<{ observationId: string; personKey: string; personId: string; kind: Kind }>`
      select "observationId", "personKey", "personId", kind
      from (
        select observation_id as "observationId", person_key as "personKey", person_id as "personId", kind,
          count(*) over (partition by person_key, attempt_id) as observations
        from observation_log
        where service = ${service}
          and person_key = any(${[...factsById.keys()].map((personId) => keyOfId(personId))}::text[])
          and ${sql.ref(column)} = ${id}
          and (kind = 'answer') = ${column === 'attempt_id'}
      ) of_body
      -- A body can name a person by two ids, with results of its own for each.
      where observations = 1
    `.execute(transaction);
    const entries = rows.flatMap(({ personId, kind, ...row }) => {
      const facts = factsById.get(personId)?.(kind);
      return facts ? [{ ...row, service, facts }] : [];
    });
    return rewriteObservations(transaction, entries);
  });
}
