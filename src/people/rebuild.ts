import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { rolledBack } from '../db/rolled-back.ts';
import type { Tables } from '../db/schema.ts';
import type { ContactKey } from '../keys/contact-key.ts';

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
  // Companies first: projecting people writes companies that are missing, and would hide the difference. Contacts go
  // before people, because contacts tell which keys a person has.
  for (const kind of ['companies', 'contacts', 'people'] as const) {
    let after: Key | undefined = { owner: '', name: '' };
    while (after) {
      if (options.signal.aborted) return { ...counts, differing: found, differences, complete: false };
      const from: Key = after;
      const work = (transaction: Transaction<Tables>) => projectBatch(transaction, kind, from);
      const batch = await (options.check ? rolledBack(database, work) : database.transaction().execute(work));
      if (kind !== 'companies') counts[kind] += batch.keys;
      differences += batch.differing.length;
      found.push(...batch.differing.slice(0, mostNamed - found.length));
      options.progress?.(counts.people + counts.contacts);
      after = batch.last;
    }
  }
  return { ...counts, differing: found, differences, complete: true };
}

interface Key {
  /** A service, or the source of a contact. */
  readonly owner: string;
  /** Key of a person or a company within the service, or id of a contact within the source. */
  readonly name: string;
}

interface Batch {
  readonly keys: number;
  readonly differing: readonly string[];
  readonly last: Key | undefined;
}

async function projectBatch(transaction: Transaction<Tables>, kind: Kind, after: Key): Promise<Batch> {
  const { rows: keys } = await nextKeys(kind, after).execute(transaction);
  const last = keys.length < keysPerBatch ? undefined : keys.at(-1);
  const differing: string[] = [];
  for (const owner of new Set(keys.map((key) => key.owner))) {
    const names = keys.filter((key) => key.owner === owner).map((key) => key.name);
    if (kind === 'companies') {
      differing.push(...(await projectCompanies(transaction, owner, names)));
      continue;
    }
    const of = {
      service: kind === 'people' ? owner : '',
      people: kind === 'people' ? names : [],
      contacts: kind === 'contacts' ? names.map((contactId) => ({ source: owner, contactId })) : [],
    };
    await lockLog(transaction, of);
    differing.push(...(await project(transaction, of)));
  }
  return { keys: keys.length, differing, last };
}

/**
 * The keys of each kind in the order of the tables' indexes, of the log and of the projections: each side may lack keys
 * of the other.
 */
const kinds = {
  people: {
    order: ['name', 'owner'],
    owner: 'service',
    name: 'person_key',
    tables: ['observation_log', 'people'],
  },
  contacts: {
    order: ['owner', 'name'],
    owner: 'source',
    name: 'contact_id',
    tables: ['contact_matches', 'contacts'],
  },
  // Observations of companies without an id or a domain are of no company.
  companies: {
    order: ['name', 'owner'],
    owner: 'service',
    name: 'organization_key',
    tables: ['observation_log', 'organization_values'],
    only: sql`organization_key !~ '^name:'`,
  },
} as const;
type Kind = keyof typeof kinds;

function nextKeys(kind: Kind, after: Key): RawBuilder<Key> {
  const { order, tables, ...columns } = kinds[kind];
  const only = 'only' in columns ? columns.only : sql`true`;
  const ordered = sql.join(order.map((part) => sql.ref(columns[part])));
  const from = sql.join(order.map((part) => after[part]));
  const each = tables.map(
    (table) => sql`
      (select distinct ${sql.ref(columns.owner)} as owner, ${sql.ref(columns.name)} as name
        from ${sql.table(table)}
        where (${ordered}) > (${from}) and ${only}
        order by ${sql.join(order.map((part) => sql.ref(part)))}
        limit ${keysPerBatch})`,
  );
  return sql<Key>`
    select owner, name
    from (${sql.join(each, sql` union `)}) keys
    order by ${sql.join(order.map((part) => sql.ref(part)))}
    limit ${keysPerBatch}`;
}

/** The people of one service, and the contacts, to project. */
interface Projected {
  readonly service: string;
  readonly people: readonly string[];
  readonly contacts: readonly ContactKey[];
}

/** Locks people and contacts against other writers of their log, in the order in which every writer locks them. */
export async function lockLog(
  transaction: Transaction<Tables>,
  { service, people, contacts }: Projected,
): Promise<void> {
  await sql`
    select lock_log(${service}, ${people}::text[], ${contacts.map(({ source }) => source)}::text[],
      ${contacts.map(({ contactId }) => contactId)}::text[])
  `.execute(transaction);
}

/**
 * Projects people and contacts from the log, and appends their changes to the feed. The caller holds their locks.
 *
 * @returns the people and contacts (source, space, id) that differed from the log
 */
export async function project(
  transaction: Transaction<Tables>,
  { service, people, contacts }: Projected,
): Promise<readonly string[]> {
  const { rows } = await sql<{ differing: string[] }>`
    select project(${service}, ${people}::text[], ${contacts.map(({ source }) => source)}::text[],
      ${contacts.map(({ contactId }) => contactId)}::text[]) as differing
  `.execute(transaction);
  return rows[0]!.differing;
}

/**
 * Projects companies from the log; a company without observations is removed.
 *
 * @returns the companies that differed from the log
 */
export async function projectCompanies(
  transaction: Transaction<Tables>,
  service: string,
  companies: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ differing: string }>`
    select project_organizations(${service}, ${companies}::text[], true) as differing
  `.execute(transaction);
  return rows.map((row) => row.differing);
}
