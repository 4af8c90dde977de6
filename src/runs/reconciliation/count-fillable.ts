import { sql, type Kysely, type RawBuilder } from 'kysely';
import { identityCells } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';
import { addressesOfHash, identifiesAlone } from '../../keys/key-lookups.ts';

/**
 * The maximum number of contacts that a planned run can fill without a call: contacts that are not asked for and share
 * a strong key with a known person or with a row that is asked for, or that had a person in an undone run with the same
 * record id and cells.
 */
export async function countFillable(
  database: Kysely<Tables>,
  { runId, source, service }: { readonly runId: string; readonly source: string; readonly service: string },
): Promise<number> {
  const answeredBeforeUndo = sql`
    select from (select * from contact_records where keys @> array[r.keys[1]] offset 0) k
    join runs u on u.run_id = k.run_id and u.undone_at is not null
    cross join lateral (
      select * from contact_matches where source = k.source and contact_id = k.contact_id offset 0
    ) m
    where k.contact_id = r.contact_id
      and m.run_id = k.run_id
      and row(${identityCells('k')}) is not distinct from row(${identityCells('r')})
      and m.service = ${service}
      and m.person_key is not null`;
  // A record that shares no key with its earlier cells can have become somebody else.
  const hasPerson = sql`
    select from contacts c
    left join contact_records k on k.source = c.source and k.contact_id = c.contact_id
    where c.source = ${source}
      and c.contact_id = r.contact_id
      and (k.keys is null or k.keys && r.keys)`;
  const { rows } = await sql<{ fillable: number }>`
    select count(distinct r.contact_id)::int as fillable
    from run_rows r
    where r.run_id = ${runId}
      and r.outcome in ('duplicate', 'fresh')
      and r.record_row is null
      and not ${isAny(hasPerson)}
      and ((${hasUndoneRuns} and ${isAny(answeredBeforeUndo)}) or exists (
        select from unnest(r.keys) as identity_key
        where ${identifiesAlone(sql`identity_key`)}
          and (
            r.outcome = 'duplicate'
            or ${isAny(sql`
              select from observations o
              where o.service = ${service}
                and o.identity_keys @> array[identity_key]
                and o.person_id is not null`)}
            or starts_with(identity_key, 'hash:')
              and ${isAny(addressesOfHash(service, sql`identity_key`))})))
  `.execute(database);
  return rows[0]!.fillable;
}

/** Evaluated once: without an undone run, a plan of a million fresh people looks up no records. */
const hasUndoneRuns = sql<boolean>`exists (select from runs where undone_at is not null)`;

/**
 * Condition: a query has rows. With `exists`, PostgreSQL expected to find one of thousands soon, and read all
 * observations for each key: beside 12 million, the count did not end. It also compared each row with each contact.
 */
function isAny(query: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(select count(*) from (${query}) found) > 0`;
}
