import { sql, type RawBuilder, type Transaction } from 'kysely';
import { identityColumns, identityOfColumns, type IdentityColumns } from '../domain/identity/identity.ts';
import { weakEvidence } from '../domain/identity/identity-evidence.ts';
import { matchKeysOfIdentity, contactOwnerKey } from '../domain/identity/match-keys.ts';
import { exportSortKey, isCrmExport, recordSortKey } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';
import { unnestContacts, type ContactKey } from '../keys/contact-key.ts';
import { identityHash } from '../suppression/drop-suppressed.ts';
import { queuePeopleWithKeys } from './digest-queue.ts';

const cells = sql.raw(identityColumns.join(', '));

/** SQL expression: the record of row `r`'s contact in the export `self`, or else in the last valid export before it. */
const recordBefore = sql`
  select k.*, u.options ->> 'service' as service
  from contact_records k
  join runs u on u.run_id = k.run_id and u.undone_at is null
  where k.source = self.source and k.contact_id = r.contact_id
    and ${sql.raw(exportSortKey('u'))} <= ${sql.raw(exportSortKey('self'))}
  order by ${sql.raw(exportSortKey('u'))} desc, k.recorded_at desc
  limit 1`;

/**
 * Records the changed cells of contacts with the keys that lead to them, and queues contacts that could be a known
 * person. Only people of the newest record's service count, so the first export at another service is recorded in full.
 * A suppressed row is recorded without cells and keys, if an earlier record was different.
 *
 * @param rows SQL condition on a row `r` of the run
 */
export async function recordContacts(
  transaction: Transaction<Tables>,
  runId: string,
  rows: RawBuilder<boolean>,
): Promise<void> {
  await sql`
    create temporary table recorded_contacts on commit drop as
    with first_rows as (
      select distinct on (r.contact_id) r.*
      from run_rows r
      where r.run_id = ${runId} and ${rows}
        and r.outcome is distinct from 'malformed'
        and (r.keys <> '{}' or r.identity_hash is not null or coalesce(r.first_name, r.last_name, r.name) is not null)
        and (r.record_row is null or r.is_contested)
      order by r.contact_id, ${sql.raw(recordSortKey('r'))}
    ), compared as (
      select r.*, self.source, coalesce(r.identity_hash, ${identityHash('r')}) as hash, k.identity_hash as former_hash,
        k.is_blocked as was_blocked, k.run_id as former_run,
        k.service is distinct from self.options ->> 'service' as is_of_another_service,
        r.outcome is not distinct from 'suppressed' as is_suppressed
      from first_rows r
      join runs self on self.run_id = r.run_id
      left join lateral (${recordBefore}) k on true
    )
    select (row_number() over ())::integer as place, source, contact_id, row_number, keys,
      '{}'::integer[] as match_keys, null::integer as owner_key, ${cells}, hash,
      is_suppressed or is_contested as is_blocked,
      former_run is not null and former_hash is distinct from hash as is_changed
    from compared
    where former_run is null and not is_suppressed
      or former_hash is distinct from hash
      or not is_suppressed and (was_blocked is distinct from is_contested or is_of_another_service)
  `.execute(transaction);
  await addMatchKeys(transaction);
  // The earlier cells of these contacts may have kept people from other contacts, who can get these people now.
  await queuePeopleWithKeys(
    transaction,
    sql`
      select unnest(k.match_keys)
      from recorded_contacts r
      join contact_records k on k.source = r.source and k.contact_id = r.contact_id
      where r.is_changed`,
  );
  await sql`
    insert into contact_records (source, contact_id, run_id, row_number, keys, match_keys, is_blocked, identity_hash,
      ${cells})
    select source, contact_id, ${runId}, row_number, keys, match_keys, is_blocked, hash, ${cells}
    from recorded_contacts
    order by source, contact_id
    on conflict (source, contact_id, run_id) do update
    set row_number = excluded.row_number, keys = excluded.keys, match_keys = excluded.match_keys,
      is_blocked = excluded.is_blocked, identity_hash = excluded.identity_hash, recorded_at = clock_timestamp(),
      ${sql.join(identityColumns.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`))}
  `.execute(transaction);
  await sql`
    insert into contact_keys (key, source, contact_id)
    select distinct key, source, contact_id
    from recorded_contacts cross join unnest(match_keys) as key
    order by key, source, contact_id
    on conflict do nothing
  `.execute(transaction);
  // Contacts without a call cannot get a person by name. Their names still compete for people that other contacts got
  // by name.
  await sql`
    insert into digest_queue (kind, owner, name)
    select 'contact', r.source, r.contact_id
    from recorded_contacts r
    join runs u on u.run_id = ${runId}
    where exists (
        select from unnest(r.match_keys[:cardinality(r.keys)] || r.owner_key) as own (key)
        join person_keys p on p.key = own.key)
      or exists (
        select from contact_matches m
        where m.source = r.source and m.contact_id = r.contact_id and m.valid_to is null)
      or exists (
        select from unnest(r.match_keys) as own (key)
        join person_keys p on p.key = own.key
        join contact_matches m on m.service = p.service and m.person_key = p.person_key
        where m.valid_to is null and m.evidence = ${weakEvidence})
      or exists (
        select from unnest(r.keys) as own (key)
        join lookup_history h on h.key_hash = key_hash(own.key, u.options ->> 'service') and h.field_group = 'profile')
    order by r.source, r.contact_id
  `.execute(transaction);
  await sql`drop table recorded_contacts`.execute(transaction);
}

/** The number of contacts for which match keys are computed at once. An undo records all contacts of a run. */
const contactsPerBatch = 20_000;

/** Computes the match keys of the new and changed contacts in table `recorded_contacts`. */
async function addMatchKeys(transaction: Transaction<Tables>): Promise<void> {
  for (let after = 0; ; after += contactsPerBatch) {
    const { rows } = await sql<
      IdentityColumns & ContactKey & { readonly place: number; readonly keys: readonly string[] }
    >`
      select place, source, contact_id as "contactId", keys, ${cells}
      from recorded_contacts
      where place > ${after} and place <= ${after + contactsPerBatch}
    `.execute(transaction);
    if (rows.length === 0) return;
    const places = rows.map(({ place }) => place);
    const keys = rows.map((row) =>
      row.keys.length === 0 ? [] : matchKeysOfIdentity(identityOfColumns(row)),
    );
    // This key leads to people without an id that a call found for this contact. Only this contact can get them.
    const owners = rows.map(({ source, contactId }) => contactOwnerKey(source, contactId));
    await sql`
      update recorded_contacts r
      set match_keys = computed.match_keys::integer[], owner_key = computed.owner_key
      from unnest(
        ${places}::integer[], ${keys.map((each) => `{${each.join(',')}}`)}::text[], ${owners}::integer[]
      ) as computed (place, match_keys, owner_key)
      where r.place = computed.place
    `.execute(transaction);
  }
}

/**
 * Records the contacts of an undone run again, under the next export that contains them. That export has no records of
 * unchanged contacts.
 */
export async function recordContactsOfRepeatingExport(
  transaction: Transaction<Tables>,
  undoneRunId: string,
): Promise<void> {
  const [next, undone] = [sql.raw(exportSortKey('u')), sql.raw(exportSortKey('self'))];
  const repeating = await sql<{ runId: string }>`
    with following as (
      select distinct on (k.contact_id) u.run_id
      from runs self
      join contact_records k on k.run_id = self.run_id
      join run_rows r on r.contact_id = k.contact_id
      join runs u on u.run_id = r.run_id
        and u.source = k.source and ${sql.raw(isCrmExport('u'))} and ${next} > ${undone}
      where self.run_id = ${undoneRunId}
      order by k.contact_id, ${next}
    )
    select u.run_id as "runId" from runs u where u.run_id in (table following) order by ${next}
  `.execute(transaction);
  const recorded = sql<boolean>`
    r.contact_id in (select contact_id from contact_records where run_id = ${undoneRunId})`;
  for (const { runId } of repeating.rows) await recordContacts(transaction, runId, recorded);
}

/** Computes the keys of contacts again after records of these contacts were removed. */
export async function rewriteContactKeys(
  transaction: Transaction<Tables>,
  contacts: readonly ContactKey[],
): Promise<void> {
  await sql`
    with named as materialized (
      select * from ${unnestContacts(contacts)} as n (source, contact_id)
    ), left_keys as materialized (
      select distinct key, k.source, k.contact_id
      from named n
      join contact_records k on k.source = n.source and k.contact_id = n.contact_id
      cross join unnest(k.match_keys) as key
    )
    delete from contact_keys c using named n
    where c.source = n.source and c.contact_id = n.contact_id
      and (c.key, c.source, c.contact_id) not in (select key, source, contact_id from left_keys)
  `.execute(transaction);
}
