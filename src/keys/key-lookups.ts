import { sql, type RawBuilder, type Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';

/** Pattern of identity keys that several people can share: a name, or a shared mailbox together with a name. */
export const sharedKeyPattern = '^(?:name:|email:.*[|])';

/** SQL condition: an identity key belongs to only one person. */
export function isIdentifyingKey(identityKey: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${identityKey} !~ ${sql.lit(sharedKeyPattern)}`;
}

/** SQL: a row `r` has one of these keys, a query. The shorter condition with `&&` read the whole table. */
export function rowHasOneOfKeys(keys: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`r.ctid = any(array(
    select distinct found.ctid
    from (${keys}) as k (key)
    cross join lateral (select s.ctid from run_rows s where s.keys @> array[k.key] offset 0) found))`;
}

/** SQL: the hashes of an e-mail's key `email:…` as identity keys, like `emailHashes`. */
function hashKeysOf(emailKey: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    'hash:' || md5(substr(${emailKey}, 7)),
    'hash:' || encode(sha256(convert_to(substr(${emailKey}, 7), 'UTF8')), 'hex')`;
}

/** SQL expression: all forms of an identity key that exports can contain. An e-mail also has its hashes. */
export function formsOfKey(identityKey: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    (case when starts_with(${identityKey}, 'email:') and position('|' in ${identityKey}) = 0
      then array[${identityKey}, ${hashKeysOf(identityKey)}] else array[${identityKey}] end)`;
}

/**
 * SQL query of the observed e-mails, as `email:…`, with the hash of a key `hash:…`, which have the same match key.
 *
 * @param service undefined: answers of all services count
 */
export function emailKeysOfHash(
  service: string | undefined,
  hashKey: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select e.identity_key
    from (
      select * from person_keys
      where key = case
        when ${hashKey} ~ '^hash:[0-9a-f]{8}' then ('x' || substr(${hashKey}, 6, 8))::bit(32)::integer
      end
      offset 0
    ) p
    join observation_log o on o.service = p.service and o.person_key = p.person_key
    cross join unnest(o.identity_keys) as e (identity_key)
    where ${service === undefined ? sql`true` : sql`o.service = ${service}`}
      and o.person_id is not null
      and starts_with(e.identity_key, 'email:')
      and ${hashKey} in (${hashKeysOf(sql`e.identity_key`)})
    offset 0`;
}

/**
 * Adds the observed e-mail to each row that has only its hash, so that both count as one person.
 *
 * @param keys temporary table of `identity_key`, `row_number` and the columns of `more`
 */
export async function addKnownEmails(
  database: Kysely<Tables>,
  service: string,
  keys: RawBuilder<unknown>,
  more: RawBuilder<unknown> = sql``,
): Promise<void> {
  await sql`
    insert into ${keys} (identity_key, row_number ${more})
    select distinct known.identity_key, k.row_number ${more}
    from (select * from ${keys} each_key where starts_with(identity_key, 'hash:') offset 0) k
    cross join lateral (${emailKeysOfHash(service, sql`k.identity_key`)}) known
  `.execute(database);
}

/** Adds the hash to rows with an e-mail that other rows have only as hash, so that both count as one person. */
export async function addHashesOfOtherRows(
  database: Kysely<Tables>,
  keys: RawBuilder<unknown>,
): Promise<void> {
  const { rows } = await sql<{ has_hashes: boolean }>`
    select exists (select from ${keys} k where starts_with(identity_key, 'hash:')) as has_hashes
  `.execute(database);
  if (!rows[0]!.has_hashes) return;
  await sql`
    insert into ${keys} (identity_key, row_number)
    select hashed.identity_key, k.row_number
    from ${keys} k
    cross join unnest(array[${hashKeysOf(sql`k.identity_key`)}]) as hashed (identity_key)
    where k.identity_key ~ '^email:[^|]*$'
      and hashed.identity_key in (select identity_key from ${keys} other)
    except
    select identity_key, row_number from ${keys} k
  `.execute(database);
}
