import { sql, type Kysely, type RawBuilder } from 'kysely';
import { matchKeysWithHashes } from '../../domain/identity/match-keys.ts';
import { outcomesAboutPerson } from '../../domain/runs/outcome.ts';
import { anyOf } from '../../db/one-of.ts';
import { exportOrder, isExport } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import {
  readMatchedCells,
  readMatchedContacts,
  isDecided,
  newestRow,
  readRows,
  type ContactState,
  type MatchedContact,
} from './contact-states.ts';
import { unnestContacts, unnestRows, contactOf, type RowKey } from '../../keys/contact-key.ts';
import { eachOf, entriesByMatchKey, sharesMatchKey } from '../../keys/key-lookups.ts';

/** Match keys of people who became known, or no longer are. */
export interface PeopleKeys {
  readonly all: readonly number[];
  /** Those that an identifier gives. */
  readonly identifying: readonly number[];
}

/**
 * Query of the contacts, `source` and `contact_id`, that have a person by weak evidence and one of the match keys.
 *
 * @param keys query of one column
 */
export function contactsByMatch(service: string, keys: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select c.source, c.contact_id
    from ${entriesByMatchKey('m', keys)}
    cross join lateral (${contactOf(sql`m.source`, sql`m.contact_id`)}) c
    where m.service = ${service} and c.match_id = m.match_id`;
}

/**
 * Query of the contacts, `source` and `contact_id`, that other people could make doubtful: weak evidence gave them a
 * person, or an identifier could show them to be one of these people. Some of them have no person.
 */
function matchedContacts(service: string, { all, identifying }: PeopleKeys): RawBuilder<unknown> {
  return sql`
    ${contactsByMatch(service, eachOf(all))}
    union
    select runs.source, r.contact_id
    from ${entriesByMatchKey('r', eachOf(identifying))}
    cross join lateral (select * from runs where run_id = r.run_id offset 0) runs`;
}

/**
 * Reads contacts that have a person, and could be other people.
 *
 * @param isDoubtful keeps the contacts whose state is needed: a call reads hundreds of namesakes, and the state of few
 */
export async function readDoubtfulContacts(
  database: Kysely<Tables>,
  service: string,
  keys: PeopleKeys,
  isDoubtful?: (contact: MatchedContact) => boolean,
): Promise<ContactState[]> {
  if (keys.all.length === 0) return [];
  const which = matchedContacts(service, keys);
  if (isDoubtful === undefined) return readMatchedContacts(database, service, which);
  const doubtful = (await readMatchedCells(database, service, which)).filter(isDoubtful);
  if (doubtful.length === 0) return [];
  const named = sql`select * from ${unnestContacts(doubtful)} as n (source, contact_id)`;
  return readMatchedContacts(database, service, named);
}

/**
 * Reads contacts that have no person, and could be one of these people: by an identifier, or because a call has asked
 * for them. Only the newest row of a contact counts, and only of runs that have ended: other runs decide about their
 * own rows.
 */
export async function readOpenContacts(
  database: Kysely<Tables>,
  service: string,
  { all, identifying }: PeopleKeys,
): Promise<ContactState[]> {
  if (all.length === 0) return [];
  const isAboutPerson = sql`s.outcome in (${anyOf(outcomesAboutPerson)})`;
  const { rows } = await sql<RowKey>`
    select newest.run_id as "runId", newest.row_number as "rowNumber"
    from (
      select distinct runs.source, r.contact_id
      from (
        select r.* from ${entriesByMatchKey('r', eachOf(all), isAboutPerson)}
        union all
        select r.* from ${entriesByMatchKey('r', eachOf(identifying))}
      ) r
      cross join lateral (select * from runs where run_id = r.run_id offset 0) runs
      where r.outcome <> 'suppressed'
        and r.record_row is null
        and ${isDecided(sql`${service}`)}
        and not exists (
          select from contacts c where c.source = runs.source and c.contact_id = r.contact_id)
    ) a
    cross join lateral (${newestRow(sql`a.source`, sql`a.contact_id`, isDecided(sql`${service}`))}) newest
    order by a.source, a.contact_id
  `.execute(database);
  return readRows(database, service, rows);
}

/**
 * Reads contacts that have no person, and could be people whom older rows of these contacts could be. The newest row
 * of a contact replaces such a row, which no longer makes other contacts doubtful.
 */
export async function readReleasedContacts(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly RowKey[],
): Promise<ContactState[]> {
  if (contacts.length === 0) return [];
  const keys = await readReplacedKeys(database, contacts);
  return readOpenContacts(database, service, await readKeysOfPeople(database, service, keys));
}

/**
 * Reads the match keys of older rows that rows replace: rows of the same contacts in the newest older export, if
 * their keys differ.
 */
export async function readReplacedKeys(
  database: Kysely<Tables>,
  replacing: readonly RowKey[],
): Promise<readonly number[]> {
  const isOlder = sql.raw<boolean>(`${exportOrder('runs')} < ${exportOrder('self')} and ${isExport('runs')}`);
  const { rows } = await sql<{ key: number }>`
    select distinct unnest(replaced.match_keys) as key
    from ${unnestRows(replacing)} as named (run_id, row_number)
    cross join lateral (
      select * from run_rows where run_id = named.run_id and row_number = named.row_number offset 0
    ) r
    cross join lateral (select * from runs where run_id = r.run_id offset 0) self
    cross join lateral (${newestRow(sql`self.source`, sql`r.contact_id`, isOlder)}) replaced
    where replaced.match_keys <> r.match_keys
  `.execute(database);
  return rows.map(({ key }) => key);
}

/** Reads the keys of the people who have one of the match keys. */
export async function readKeysOfPeople(
  database: Kysely<Tables>,
  service: string,
  matchKeys: readonly number[],
): Promise<PeopleKeys> {
  return readPeopleKeys(database, service, sharesMatchKey('o', eachOf(matchKeys)));
}

/**
 * Reads the keys of people in the log.
 *
 * @param which over an observation `o`
 */
export async function readPeopleKeys(
  database: Kysely<Tables>,
  service: string,
  which: RawBuilder<boolean>,
): Promise<PeopleKeys> {
  const { rows } = await sql<{ identity_keys: string[]; match_keys: number[] }>`
    select identity_keys, match_keys from observation_log o where o.service = ${service} and ${which}
  `.execute(database);
  return {
    all: [...new Set(rows.flatMap((row) => row.match_keys))],
    identifying: matchKeysWithHashes(rows.flatMap((row) => row.identity_keys)),
  };
}
