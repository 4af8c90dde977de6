import { sql, type RawBuilder, type Transaction } from 'kysely';
import { type Warehouse, inRolledBackTransaction } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { digest, withDigestLocked, lockDigest, retryFailedEntries } from './digest.ts';
import { digestFacts } from './digest-facts.ts';

/** The number of people or contacts per transaction. Other digests wait for at most one of these transactions. */
const namesPerBatch = 500;
/** The maximum number of names in the result. */
const maxNamed = 20;

/**
 * Recomputes all people and contacts from the stored facts, in batches of one transaction each, while workers run.
 * Unchanged rows are not written and do not reach the change feed. Quarantined queue entries are tried again.
 *
 * @param options.check true: only compare; each batch is rolled back
 * @param options.signal aborts between two batches
 * @param options.progress receives the number of finished people and contacts
 */
export async function rebuild(
  warehouse: Warehouse,
  options: {
    readonly check: boolean;
    readonly signal: AbortSignal;
    readonly progress?: (done: number) => void;
  },
) {
  const { database } = warehouse;
  if (!options.check) await retryFailedEntries(warehouse);
  await digest(warehouse, options.signal);
  const figures = {
    people: 0,
    contacts: 0,
    differences: 0,
    /** Names of the first people and contacts that differ. */
    differing: [] as string[],
    /** False if the rebuild was stopped early. */
    complete: false,
  };
  for (const kind of ['people', 'contacts'] as const)
    for (let after: Name | undefined = { owner: '', name: '' }; after !== undefined;) {
      if (options.signal.aborted) return figures;
      const from: Name = after;
      const work = (transaction: Transaction<Tables>) =>
        rebuildBatch(transaction, database, kind, from, options.check);
      const batch: Awaited<ReturnType<typeof rebuildBatch>> = options.check
        ? await inRolledBackTransaction(database, async (transaction) => {
            await lockDigest(transaction);
            return work(transaction);
          })
        : await withDigestLocked(database, work);
      figures[kind] += batch.names;
      figures.differences += batch.differing.length;
      figures.differing.push(...batch.differing.slice(0, maxNamed - figures.differing.length));
      options.progress?.(figures.people + figures.contacts);
      after = batch.last;
    }
  return { ...figures, complete: true };
}

interface Name {
  /** The service of a person, or the source of a contact. */
  readonly owner: string;
  readonly name: string;
}

/**
 * Tables that contain names of people or contacts. Facts and computed rows are both listed, because each can lack names
 * of the other.
 */
const kinds = {
  people: { tables: ['observation_log', 'people'], owner: 'service', name: 'person_key' },
  contacts: { tables: ['contact_records', 'contact_matches'], owner: 'source', name: 'contact_id' },
} as const;
type Kind = keyof typeof kinds;

/** Digests the next names again without new answers. The last name continues the rebuild; undefined at the end. */
async function rebuildBatch(
  transaction: Transaction<Tables>,
  database: Warehouse['database'],
  kind: Kind,
  after: Name,
  isCheck: boolean,
) {
  const { rows: names } = await nextNames(kind, after).execute(transaction);
  const { differing } = await digestFacts(transaction, database, {
    answers: [],
    people: kind === 'people' ? names.map(({ owner, name }) => ({ service: owner, personKey: name })) : [],
    contacts: kind === 'contacts' ? names.map(({ owner, name }) => ({ source: owner, contactId: name })) : [],
  });
  const own = new Set(names.map(({ owner, name }) => `${owner} ${name}`));
  // A comparison is rolled back after each batch, so a contact of a changed person would otherwise be counted twice.
  const counted = isCheck ? differing.filter((name) => own.has(name)) : differing;
  return {
    names: names.length,
    differing: [...new Set(counted)],
    last: names.length < namesPerBatch ? undefined : names.at(-1),
  };
}

/** Query of the next names after `after`, in the order of the index. */
function nextNames(kind: Kind, after: Name): RawBuilder<Name> {
  const { tables, owner, name } = kinds[kind];
  const ordered = sql`${sql.ref(name)}, ${sql.ref(owner)}`;
  const each = tables.map(
    (table) => sql`
      (select distinct ${sql.ref(owner)} as owner, ${sql.ref(name)} as name
        from ${sql.table(table)}
        where (${ordered}) > (${after.name}, ${after.owner})
        order by name, owner
        limit ${namesPerBatch})`,
  );
  return sql<Name>`
    select owner, name from (${sql.join(each, sql` union `)}) names order by name, owner limit ${namesPerBatch}`;
}
