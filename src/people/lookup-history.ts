import { sql, type RawBuilder, type Transaction } from 'kysely';
import {
  requestedFieldGroups,
  lateKinds,
  type RequestedExtras,
  type LateKind,
  type LateValues,
} from '../domain/late-results/delivery-kinds.ts';
import type { Outcome } from '../domain/runs/outcome.ts';
import type { Tables } from '../db/schema.ts';

/** The member of an observation's facts that contains the delivered phones or e-mails. */
const factsOfValues: Readonly<Record<LateValues, string>> = { phones: 'phones', emails: 'waterfall_emails' };

/**
 * Records the lookups of late results, found or not, so that no later run pays for the same results. If the call has no
 * answer, all of its people count as looked up until an answer shows which person the results belong to. One statement
 * writes all lookups in key order, because several statements deadlocked with other transactions.
 */
export async function recordLateLookups(
  transaction: Transaction<Tables>,
  call: {
    readonly attemptId: string;
    readonly runId: string;
    readonly options: { readonly service: string };
  },
  lookups: {
    /** People with a kind of late result that has arrived, found or not. */
    readonly results: readonly { readonly personKey: string; readonly lateKind: LateKind }[];
    /** Keys of delivered e-mails, each with its person. A row with such an e-mail becomes fresh. */
    readonly learned: readonly { readonly personKey: string; readonly identityKey: string }[];
    /** Kinds of late results that the call requested for all of its people. */
    readonly ofAll: readonly { readonly lateKind: LateKind; readonly found: boolean }[];
  },
): Promise<void> {
  const { results, learned, ofAll } = lookups;
  if (results.length + learned.length + ofAll.length === 0) return;
  const { attemptId, runId, options } = call;
  const { service } = options;
  const deliveredBy = results.map(({ lateKind }) => lateKinds[lateKind].deliveredBy);
  const factsOf = results.map(({ lateKind }) => factsOfValues[lateKinds[lateKind].values]);
  /** Lookups of one key. LATERAL with `offset 0` makes PostgreSQL look up each key by itself. */
  const lookupOf = (hash: RawBuilder<unknown>) => sql`
    cross join lateral (select * from lookup_history where key_hash = ${hash} offset 0) h`;
  await sql`
    with given as materialized (
      -- True if any delivery of the run found values, because one delivery can lack what another has.
      select ${runId}::text as run_id, ${attemptId}::text as attempt_id, g.person_key, g.field_group, exists (
        select from observation_log o
        where o.person_key = g.person_key and o.service = ${service} and o.run_id = ${runId}
          and o.kind = g.delivered_by and o.facts -> g.values <> '[]'
      ) as found
      from unnest(${results.map(({ personKey }) => personKey)}::text[],
        ${results.map(({ lateKind }) => lateKind)}::text[], ${deliveredBy}::text[], ${factsOf}::text[])
        as g (person_key, field_group, delivered_by, values)
    ), said as materialized (
      select key_hash(s.identity_key, ${service}) as key_hash, s.field_group, l.lookup_run, bool_or(s.found) as found
      from (
        select unnest(r.keys) as identity_key, p.run_id, field_group, found
        from given
        join attempt_people p on p.attempt_id = ${attemptId} and 'person:' || p.person_id = given.person_key
        join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
        union all
        select unnest(o.identity_keys), run_id, field_group, found
        from given
        join observation_log o using (person_key, run_id)
        where o.service = ${service}
      ) s
      join lookup_runs l using (run_id)
      group by 1, 2, 3
    ), stated as (
      select h.*
      from said
      ${lookupOf(sql`said.key_hash`)}
      where h.field_group = said.field_group and h.lookup_run = said.lookup_run
      union all
      select h.asked_at, h.lookup_run, key_hash(l.identity_key, ${service}), h.field_group, h.found
      from unnest(${learned.map(({ personKey }) => personKey)}::text[],
        ${learned.map(({ identityKey }) => identityKey)}::text[]) as l (person_key, identity_key)
      ${lookupOf(sql`key_hash(l.person_key, ${service})`)}
      union all
      select a.admitted_at, number_lookup_run(a.run_id, ${service}), key_hash(identity_key, ${service}),
        g.field_group, g.found
      from given g
      join attempts a on a.attempt_id = g.attempt_id and a.answered_at is null
      join observation_log o on o.service = ${service} and o.person_key = g.person_key
      cross join unnest(o.identity_keys) as identity_key
      union all
      select a.admitted_at, number_lookup_run(a.run_id, ${service}), key_hash(key, ${service}), g.field_group, g.found
      from attempts a
      join attempt_people p using (attempt_id)
      join run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
      cross join unnest(r.keys) as key
      cross join unnest(${ofAll.map(({ lateKind }) => lateKind)}::text[], ${ofAll.map(({ found }) => found)}::bool[])
        as g (field_group, found)
      where a.attempt_id = ${attemptId}
        -- A recorded lookup of this call stays: it comes from a delivery that names the person.
        and not exists (
          select
          from (select 1) one
          ${lookupOf(sql`key_hash(key, ${service})`)}
          where h.field_group = g.field_group and h.asked_at >= a.admitted_at)
    )
    insert into lookup_history as m (key_hash, field_group, found, asked_at, lookup_run)
    select distinct on (key_hash, field_group) key_hash, field_group, coalesce(said.found, stated.found), asked_at,
      lookup_run
    from stated left join said using (key_hash, field_group, lookup_run)
    order by key_hash, field_group, asked_at desc, coalesce(said.found, stated.found) desc nulls last
    on conflict (key_hash, field_group) do update
      set found = excluded.found, asked_at = excluded.asked_at, lookup_run = excluded.lookup_run
      where m.asked_at <= excluded.asked_at
        and (m.found, m.asked_at, m.lookup_run)
          is distinct from (excluded.found, excluded.asked_at, excluded.lookup_run)
  `.execute(transaction);
}

/**
 * Records that the service refused a row in a call of its own, so that no run calls for it while the lookup is fresh.
 * The digest decides again about all contacts with a key of the row, because name and employer count as evidence after
 * a call.
 */
export async function recordRejectedLookup(
  transaction: Transaction<Tables>,
  runId: string,
  rowNumber: number,
  asked: RequestedExtras & { readonly service: string },
): Promise<void> {
  const answered = [{ row_number: rowNumber, outcome: 'rejected' satisfies Outcome, is_lookup: true }];
  await sql`
    select record_lookup(${asked.service}, ${runId}, clock_timestamp(), ${JSON.stringify(answered)}::jsonb, '[]',
      ${requestedFieldGroups(asked)}::text[])
  `.execute(transaction);
  await sql`
    insert into digest_queue (kind, owner, name)
    select distinct 'contact', c.source, c.contact_id
    from run_rows r
    join runs u using (run_id)
    join contact_records k on k.source = u.source and k.contact_id = r.contact_id
    join contact_keys c on c.key = any(k.match_keys)
    where r.run_id = ${runId} and r.row_number = ${rowNumber}
    order by 2, 3
  `.execute(transaction);
}
