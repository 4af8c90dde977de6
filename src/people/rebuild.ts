import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { lockLog, project, projectCompanies } from './project.ts';

/** What a rebuild has compared, and what differed from the log. */
export interface RebuildFigures {
  readonly people: number;
  readonly contacts: number;
  /** The first keys of people, companies and contacts that differed. */
  readonly differing: readonly string[];
  readonly differences: number;
  /** False: it was stopped early. */
  readonly complete: boolean;
}

/** People per transaction: writers of the same people wait for one transaction at most. */
const keysPerBatch = 500;
const mostNamed = 20;

/**
 * Computes all projections from the log, in batches of one transaction each, beside running workers. Rows that agree
 * with the log are not written, and do not reach the change feed.
 *
 * @param options.check only compares: each batch is rolled back
 * @param options.signal ends it between two batches
 * @param options.progress receives the number of people and contacts that are done
 */
export async function rebuild(
  { database }: Warehouse,
  options: {
    readonly check: boolean;
    readonly signal: AbortSignal;
    readonly progress?: (done: number) => void;
  },
): Promise<RebuildFigures> {
  const found: string[] = [];
  let differences = 0;
  const counts = { people: 0, contacts: 0 };
  for (const kind of ['people', 'contacts', 'companies'] as const) {
    let after: Key | undefined = { first: '', second: '' };
    while (after) {
      if (options.signal.aborted) return { ...counts, differing: found, differences, complete: false };
      const from: Key = after;
      const batch = await inBatch(database, options.check, (transaction) =>
        projectBatch(transaction, kind, from),
      );
      if (kind !== 'companies') counts[kind] += batch.keys;
      differences += batch.differing.length;
      found.push(...batch.differing.slice(0, mostNamed - found.length));
      options.progress?.(counts.people + counts.contacts);
      after = batch.last;
    }
  }
  return { ...counts, differing: found, differences, complete: true };
}

/** A service and a person key, or a source and a contact id. */
interface Key {
  readonly first: string;
  readonly second: string;
}

interface Batch {
  readonly keys: number;
  readonly differing: readonly string[];
  readonly last: Key | undefined;
}

class TakenBack extends Error {
  readonly batch: Batch;

  constructor(batch: Batch) {
    super('only compared');
    this.batch = batch;
  }
}

async function inBatch(
  database: Warehouse['database'],
  check: boolean,
  work: (transaction: Transaction<Tables>) => Promise<Batch>,
): Promise<Batch> {
  try {
    return await database.transaction().execute(async (transaction) => {
      const batch = await work(transaction);
      if (check) throw new TakenBack(batch);
      return batch;
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.batch;
    throw error;
  }
}

async function projectBatch(
  transaction: Transaction<Tables>,
  kind: keyof typeof nextOf,
  after: Key,
): Promise<Batch> {
  const { rows: keys } = await nextOf[kind](after).execute(transaction);
  const last = keys.length < keysPerBatch ? undefined : keys.at(-1);
  const differing: string[] = [];
  for (const first of new Set(keys.map((key) => key.first))) {
    const seconds = keys.filter((key) => key.first === first).map((key) => key.second);
    const of = {
      service: kind === 'contacts' ? '' : first,
      people: kind === 'people' ? seconds : [],
      contacts: kind === 'contacts' ? seconds.map((contactId) => ({ source: first, contactId })) : [],
    };
    await lockLog(transaction, of);
    const state = stateOf[kind](first, seconds);
    const before = await readState(transaction, state);
    await (kind === 'companies' ? projectCompanies(transaction, first, seconds) : project(transaction, of));
    const afterwards = await readState(transaction, state);
    for (const key of new Set([...before.keys(), ...afterwards.keys()]))
      if (before.get(key) !== afterwards.get(key)) differing.push(key);
  }
  return { keys: keys.length, differing, last };
}

/** The next keys of the log and of the projections: each side may lack keys of the other. */
function nextKeys(first: string, second: string, tables: readonly string[], after: Key) {
  const [one, other] = [sql.ref(first), sql.ref(second)];
  const each = tables.map(
    (table) => sql`
      (select distinct ${one} as first, ${other} as second from ${sql.table(table)}
        where (${one}, ${other}) > (${after.first}, ${after.second}) order by 1, 2 limit ${keysPerBatch})`,
  );
  return sql<Key>`select first, second from (${sql.join(each, sql` union `)}) keys order by 1, 2 limit ${keysPerBatch}`;
}

/** Companies without observations; companies of people are projected with their people. */
function orphanedCompanies({ first, second }: Key): RawBuilder<Key> {
  return sql<Key>`
    select g.service as first, g.organization_key as second
    from organizations g
    where (g.service, g.organization_key) > (${first}, ${second})
      and not exists (
        select from observations o where o.service = g.service and o.organization_key = g.organization_key)
    order by 1, 2
    limit ${keysPerBatch}`;
}

const nextOf = {
  people: (after: Key) => nextKeys('service', 'person_key', ['observations', 'people'], after),
  contacts: (after: Key) => nextKeys('source', 'contact_id', ['contact_matches', 'contacts'], after),
  companies: orphanedCompanies,
} as const;

const stateOf = { people: stateOfPeople, contacts: stateOfContacts, companies: stateOfCompanies } as const;

function stateOfPeople(service: string, keys: readonly string[]): RawBuilder<unknown> {
  return sql`
    select person_key as key, md5(p::text) as state from people p
    where service = ${service} and person_key = any(${keys}::text[])
    union all
    select organization_key, md5(g::text) from organizations g
    where service = ${service} and organization_key in (
      select organization_key from observations where service = ${service} and person_key = any(${keys}::text[]))`;
}

function stateOfContacts(source: string, ids: readonly string[]): RawBuilder<unknown> {
  return sql`
    select source || ' ' || contact_id as key, md5(c::text) as state from contacts c
    where source = ${source} and contact_id = any(${ids}::text[])`;
}

function stateOfCompanies(service: string, keys: readonly string[]): RawBuilder<unknown> {
  return sql`
    select organization_key as key, md5(g::text) as state from organizations g
    where service = ${service} and organization_key = any(${keys}::text[])`;
}

async function readState(
  transaction: Transaction<Tables>,
  state: RawBuilder<unknown>,
): Promise<Map<string, string>> {
  const { rows } = await sql<{ key: string; state: string }>`${state}`.execute(transaction);
  return new Map(rows.map((row) => [row.key, row.state]));
}
