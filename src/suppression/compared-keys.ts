import { sql, type RawBuilder } from 'kysely';
import { placesOfRows } from '../db/expressions.ts';
import type { Identity } from '../domain/identity/identity.ts';
import type { ContactKey } from '../keys/contact-key.ts';
import { addressesOfHash, identifiesAlone } from '../keys/key-lookups.ts';

/** Expression over a staged row `r` and its run `runs`: the key of the row's CRM record. Null without a record id. */
const idKey = sql`
  case when r.contact_id !~ '^(key|row|erased):' then 'record:' || runs.source || '/' || r.contact_id end`;

/** Expression: the same together with the person's name. Null without a record id or a name. */
export const namedRecordKey = sql`
  (${idKey} || '|' || lower(coalesce(r.first_name || ' ' || r.last_name, r.name)))`;

/** Expression: the key of the record. Files without a named source share no ids: only the key with the name counts. */
export const recordKey = sql`case when runs.source <> 'generic' then ${idKey} end`;

/** The keys of a CRM record and of the record with its name, as `recordKey` and `namedRecordKey` of its row. */
export function recordKeysOf(
  { source, contactId }: ContactKey,
  { firstName, lastName, name: fullName }: Identity,
): Readonly<Record<'id' | 'named', readonly string[]>> {
  if (/^(?:key|row|erased):/.test(contactId)) return { id: [], named: [] };
  const id = `record:${source}/${contactId}`;
  const name = firstName !== undefined && lastName !== undefined ? `${firstName} ${lastName}` : fullName;
  return {
    id: source === 'generic' ? [] : [id],
    named: name === undefined ? [] : [`${id}|${name.toLowerCase()}`],
  };
}

/** SQL tables of rows of a run, `r`, and their run, `runs`. @param rowNumbers query of row numbers */
export const rowsWithRun = (runId: string, rowNumbers: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  unnest(${placesOfRows('run_rows', runId, rowNumbers)}) as at (place)
  cross join lateral (select * from run_rows where ctid = at.place offset 0) r
  cross join lateral (select * from runs where run_id = r.run_id offset 0) runs`;

/** Keys of staged rows, with their employers' domains and their CRM records. */
export function keysOfRows(runId: string, rowNumbers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select r.row_number, identity_key
    from ${rowsWithRun(runId, rowNumbers)}
    cross join unnest(r.keys || ('domain:' || r.domain) || ${recordKey} || ${namedRecordKey}) as identity_key
    where identity_key is not null
  `;
}

/** A person to compare with the list, under a number. A person can have several of these. */
interface PersonKeys {
  readonly number: number;
  readonly keys: readonly string[];
}

/**
 * Query of `row_number` and `identity_key`: the keys of people, and what is known under one of their identifiers
 * (`keysOfKnown`).
 *
 * @param isPresent false: an answer has newer values than the warehouse
 */
export function keysOfPeople(people: readonly PersonKeys[], isPresent = true): RawBuilder<unknown> {
  // jsonb refuses half of a character.
  const rows = people.map(({ number, keys }) => ({
    row_number: number,
    keys: keys.map((key) => key.toWellFormed()),
  }));
  const given = sql`
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (row_number int, keys text[])`;
  return sql`
    select p.row_number, unnest(p.keys) as identity_key from (${given}) p
    union all
    ${keysOfKnown(peopleWithKeysOf(given), isPresent)}`;
}

/**
 * SQL of the known people who share an identifier with a row: `row_number`, `service` and `person_key`. The hash of an
 * e-mail in a row finds the people with this e-mail.
 *
 * Answers of all services count, because a suppressed person is the same person everywhere.
 *
 * @param rows query of `row_number` and `keys` as in `run_rows`
 */
export function peopleWithKeysOf(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct r.row_number, o.service, o.person_key
    from (${rows}) r
    cross join unnest(r.keys) as own (identity_key)
    cross join lateral (
      select own.identity_key
      union all
      select * from (${addressesOfHash(undefined, sql`own.identity_key`)}) of_hash
    ) k
    cross join lateral (
      select service, person_key from observation_log where identity_keys @> array[k.identity_key] offset 0
    ) o
    where ${identifiesAlone(sql`k.identity_key`)}`;
}

/**
 * Query of `row_number` and `identity_key`: the ids, profiles and addresses in all observations of known people; if
 * `isPresent`, also their present address and the domain of their present employer. An address of an observation
 * becomes its hash, because the address of a former employer says nothing about a listed domain.
 *
 * @param people query of `row_number`, `service` and `person_key`
 */
export function keysOfKnown(people: RawBuilder<unknown>, isPresent = true): RawBuilder<unknown> {
  return sql`
    select p.row_number, k.identity_key
    from (${people}) p
    cross join lateral (
      select case when starts_with(identity_key, 'email:')
        then 'hash:' || encode(sha256(convert_to(substr(identity_key, 7), 'UTF8')), 'hex') else identity_key end
      from (
        select identity_keys from observation_log where service = p.service and person_key = p.person_key offset 0
      ) o
      cross join unnest(o.identity_keys) as identity_key
      union all
      select present.identity_key
      from (select * from people where service = p.service and person_key = p.person_key offset 0) known
      cross join unnest(array['email:' || known.email, 'domain:' || known.organization_domain])
        as present (identity_key)
      where ${isPresent}
    ) k (identity_key)
    where k.identity_key is not null`;
}
