import { sql, type Kysely } from 'kysely';
import { identityOfColumns, type IdentityColumns } from '../domain/identity/identity-columns.ts';
import { readyIdentity, type ComparedIdentity } from '../domain/identity/identity-evidence.ts';
import type { Tables } from '../db/schema.ts';
import { eachOf, placesByMatchKey } from './shares-match-key.ts';

/** A contact that could be a person, as the newest row that could be that person has it. */
export interface KnownRow {
  readonly source: string;
  readonly contactId: string;
  readonly matchKeys: readonly number[];
  readonly compared: ComparedIdentity;
}

/**
 * Reads the contacts that have one of the match keys: rows of every run and source, whatever their outcome, without
 * undone runs. Of several rows of one contact in one file, the first counts.
 */
export async function readKnownRows(
  database: Kysely<Tables>,
  matchKeys: readonly number[],
): Promise<KnownRow[]> {
  if (matchKeys.length === 0) return [];
  const { rows } = await sql<
    IdentityColumns & { readonly source: string; readonly contact_id: string; readonly match_keys: number[] }
  >`
    select distinct on (source, r.contact_id) coalesce(runs.source, 'generic') as source, r.contact_id, r.match_keys,
      r.person_id, r.email, r.other_emails, r.hashed_email, r.profile_url, r.first_name, r.last_name, r.name,
      r.organization_name, r.domain
    from unnest(${placesByMatchKey('run_rows', eachOf(matchKeys))}::tid[]) as at (place)
    cross join lateral (select * from run_rows where ctid = at.place offset 0) r
    cross join lateral (select * from runs where run_id = r.run_id offset 0) runs
    where runs.undone_at is null
    order by source, r.contact_id, runs.created_at desc, r.row_number
  `.execute(database);
  return rows.map((row) => ({
    source: row.source,
    contactId: row.contact_id,
    matchKeys: row.match_keys,
    compared: readyIdentity(identityOfColumns(row)),
  }));
}
