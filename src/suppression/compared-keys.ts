import { sql, type RawBuilder } from 'kysely';
import { ctidsOfRows } from '../db/expressions.ts';
import type { Identity } from '../domain/identity/identity.ts';
import type { ContactKey } from '../keys/contact-key.ts';
import { emailKeysOfHash, isIdentifyingKey } from '../keys/key-lookups.ts';

/** SQL: the key of the CRM record of a row `r` in its run `runs`; null if the row has no record id. */
const idKey = sql`
  case when r.contact_id !~ '^(key|row|erased):' then 'record:' || runs.source || '/' || r.contact_id end`;

/** SQL: the key of a row's CRM record and person's name; null if one of them is missing. */
export const namedRecordKey = sql`
  (${idKey} || '|' || lower(coalesce(r.first_name || ' ' || r.last_name, r.name)))`;

/** SQL: the key of a row's CRM record; null without a named source, because ids of such files can repeat. */
export const recordKey = sql`case when runs.source <> 'generic' then ${idKey} end`;

/** The keys of a CRM record, without and with the person's name. They equal `recordKey` and `namedRecordKey` in SQL. */
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

/** SQL tables: rows of a run as `r`, and their run as `runs`. @param rowNumbers query of row numbers */
export const rowsWithRun = (runId: string, rowNumbers: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  unnest(${ctidsOfRows('run_rows', runId, rowNumbers)}) as at (place)
  cross join lateral (select * from run_rows where ctid = at.place offset 0) r
  cross join lateral (select * from runs where run_id = r.run_id offset 0) runs`;

/** SQL query of the keys of staged rows, with their employers' domains and their CRM records. */
export function suppressionKeysOfRows(runId: string, rowNumbers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select r.row_number, identity_key
    from ${rowsWithRun(runId, rowNumbers)}
    cross join unnest(r.keys || ('domain:' || r.domain) || ${recordKey} || ${namedRecordKey}) as identity_key
    where identity_key is not null
  `;
}

/** Keys of a person to compare with the suppression list, under a number. A number can have several entries. */
interface NumberedKeys {
  readonly number: number;
  readonly keys: readonly string[];
}

/**
 * SQL query of the keys of people, and of all keys that the warehouse has for them.
 *
 * @param withCurrentValues false: an answer has newer values than the warehouse
 */
export function suppressionKeysOfPeople(
  people: readonly NumberedKeys[],
  withCurrentValues = true,
): RawBuilder<unknown> {
  // The type jsonb refuses half of a surrogate pair, so such text is repaired.
  const rows = people.map(({ number, keys }) => ({
    row_number: number,
    keys: keys.map((key) => key.toWellFormed()),
  }));
  const given = sql`
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (row_number int, keys text[])`;
  return sql`
    select p.row_number, unnest(p.keys) as identity_key from (${given}) p
    union all
    ${suppressionKeysOfKnownPeople(knownPeopleOfRows(given), withCurrentValues)}`;
}

/**
 * SQL query of the known people who share an identifier, or its hash, with a row: `row_number`, `service` and
 * `person_key`. A suppressed person is the same person at all services.
 *
 * @param rows query of `row_number` and `keys` as in `run_rows`
 */
export function knownPeopleOfRows(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct r.row_number, o.service, o.person_key
    from (${rows}) r
    cross join unnest(r.keys) as own (identity_key)
    cross join lateral (
      select own.identity_key
      union all
      select * from (${emailKeysOfHash(undefined, sql`own.identity_key`)}) of_hash
    ) k
    cross join lateral (
      select service, person_key from observation_log where identity_keys @> array[k.identity_key] offset 0
    ) o
    where ${isIdentifyingKey(sql`k.identity_key`)}`;
}

/**
 * SQL query of the ids, profiles and e-mails in all observations of known people; if `withCurrentValues`, also their
 * current e-mail and employer's domain. Observed e-mails become hashes, because an e-mail at a former employer must not
 * match a listed domain.
 */
export function suppressionKeysOfKnownPeople(
  people: RawBuilder<unknown>,
  withCurrentValues = true,
): RawBuilder<unknown> {
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
      where ${withCurrentValues}
    ) k (identity_key)
    where k.identity_key is not null`;
}
