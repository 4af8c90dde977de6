import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { ContactKey } from '../keys/contact-key.ts';

/** The people of one service, and the contacts, to project. */
export interface Projected {
  readonly service: string;
  readonly people: readonly string[];
  readonly contacts: readonly ContactKey[];
}

/** Locks people and contacts against other writers of their log, in the order in which every writer locks them. */
export async function lockLog(transaction: Transaction<Tables>, of: Projected): Promise<void> {
  await sql`select lock_log(${sql.join(keysOf(of))})`.execute(transaction);
}

/**
 * Projects people and contacts from the log, and appends their changes to the feed. The caller holds their locks.
 *
 * @returns the people and contacts (source, space, id) that differed from the log
 */
export async function project(transaction: Transaction<Tables>, of: Projected): Promise<readonly string[]> {
  const { rows } = await sql<{ differing: string[] }>`
    select project(${sql.join(keysOf(of))}) as differing
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

function keysOf({ service, people, contacts }: Projected) {
  return [
    sql`${service}`,
    sql`${people}::text[]`,
    sql`${contacts.map(({ source }) => source)}::text[]`,
    sql`${contacts.map(({ contactId }) => contactId)}::text[]`,
  ];
}
