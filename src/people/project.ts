import { sql, type Transaction } from 'kysely';
import type { Tables } from '../db/schema.ts';

/** The people of one service, and the contacts, to project. */
export interface Projected {
  readonly service: string;
  readonly people: readonly string[];
  readonly contacts: readonly { readonly source: string; readonly contactId: string }[];
}

/** Locks people and contacts against other writers of their log, in the order in which every writer locks them. */
export async function lockLog(transaction: Transaction<Tables>, of: Projected): Promise<void> {
  await sql`select lock_log(${sql.join(keysOf(of))})`.execute(transaction);
}

/** Projects people and contacts from the log, and appends their changes to the feed. The caller holds their locks. */
export async function project(transaction: Transaction<Tables>, of: Projected): Promise<void> {
  await sql`select project(${sql.join(keysOf(of))})`.execute(transaction);
}

/** Projects companies from the log; a company without observations is removed. */
export async function projectCompanies(
  transaction: Transaction<Tables>,
  service: string,
  companies: readonly string[],
): Promise<void> {
  await sql`select project_organizations(${service}, ${companies}::text[])`.execute(transaction);
}

function keysOf({ service, people, contacts }: Projected) {
  return [
    sql`${service}`,
    sql`${people}::text[]`,
    sql`${contacts.map(({ source }) => source)}::text[]`,
    sql`${contacts.map(({ contactId }) => contactId)}::text[]`,
  ];
}
