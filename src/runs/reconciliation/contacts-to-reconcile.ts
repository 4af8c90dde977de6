import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { KnownPerson } from '../../domain/identity/contact-validity.ts';
import { identityColumns, type IdentityColumns } from '../../domain/identity/identity-columns.ts';
import type { Person } from '../../domain/identity/person.ts';
import { hasSuppressions, listedRows } from '../../privacy/suppressions.ts';
import type { Tables } from '../../db/schema.ts';

/** The rows of a run that are compared in one batch. */
export interface RowsOfRun {
  readonly runId: string;
  readonly source: string;
  readonly service: string;
  /** SQL condition over `r`, a row of the run. */
  readonly rows: RawBuilder<boolean>;
}

/** A row of a run with a person who is or may be its contact. */
export interface RowAndPerson extends IdentityColumns, KnownPerson {
  readonly row_number: number;
  readonly contact_id: string;
  /** Known only from observations of undone runs: they are appended again before use. */
  readonly isUndone: boolean;
}

interface PersonRow extends IdentityColumns {
  readonly row_number: number;
  readonly contact_id: string;
  readonly person_key: string;
  readonly is_undone: boolean;
  readonly person: Person;
}

const cells = sql.raw(identityColumns.map((column) => `r.${column}`).join(', '));
const recordCells = sql.raw(identityColumns.map((column) => `k.${column}`).join(', '));

/** Excludes rows of suppressed people and rows without an identity. */
function rowsOf({ runId, rows }: RowsOfRun): RawBuilder<unknown> {
  return sql`
    select r.row_number, r.contact_id, r.keys, ${cells}
    from run_rows r
    where r.run_id = ${runId}
      and ${rows}
      and r.keys <> '{}'
      and r.outcome is distinct from 'suppressed'
  `;
}

/** A person in the form that the identity rules compare, from a row `p` of `people`. */
export const personOfProjection = sql.raw(`jsonb_build_object(
      'id', p.person_id,
      'first_name', p.first_name,
      'last_name', p.last_name,
      'name', p.name,
      'proflink_url', p.linkedin_url,
      'email', p.email,
      'personal_emails', (select coalesce(jsonb_agg(e ->> 'email'), '[]') from jsonb_array_elements(p.emails) e),
      'organization', jsonb_build_object('name', p.organization_name, 'primary_domain', p.organization_domain),
      'employment_history', p.employment)`);

/** A person in the same form, from the facts of an observation `o`. */
const personOfFacts = sql.raw(`jsonb_build_object(
      'id', o.person_id,
      'first_name', o.facts #> '{first_name,first_name}',
      'last_name', o.facts #> '{first_name,last_name}',
      'name', o.facts #> '{name,name}',
      'proflink_url', o.facts #> '{linkedin_url,linkedin_url}',
      'email', o.facts #> '{email,email}',
      'personal_emails', (select coalesce(jsonb_agg(e ->> 'email'), '[]')
        from jsonb_array_elements(coalesce(o.facts -> 'emails', '[]')) e),
      'organization', jsonb_build_object('name', o.facts #> '{organization_name,organization_name}',
        'primary_domain', o.facts #> '{organization_name,organization_domain}'),
      'employment_history', coalesce(o.facts -> 'employment', '[]'))`);

/** Rows whose contact has a person, and whose cells changed after the match. */
export async function readChangedContacts(
  database: Kysely<Tables>,
  range: RowsOfRun,
): Promise<RowAndPerson[]> {
  const { rows } = await sql<PersonRow>`
    with r as (${rowsOf(range)})
    select r.row_number, r.contact_id, ${cells}, p.person_key, false as is_undone, ${personOfProjection} as person
    from r
    join contacts c on c.source = ${range.source} and c.contact_id = r.contact_id
    join people p on p.service = c.service and p.person_key = c.person_key
    where c.run_id <> ${range.runId}
      and not exists (
        select from (
          select k.* from contact_records k
          where k.source = c.source and k.contact_id = c.contact_id and not exists (
            select from runs u where u.run_id = k.run_id and u.undone_at is not null)
          order by k.recorded_at desc
          limit 1
        ) k
        where row(${recordCells}) is not distinct from row(${cells})
      )
    order by r.row_number
  `.execute(database);
  return rows.map(asRowAndPerson);
}

/**
 * Rows whose contact has no person yet, each with every known person who shares a strong key with the row. People on
 * the suppression list are left out. A person without an id belongs to the contact that was asked for, and is never
 * shared.
 */
export async function readKnownCandidates(
  database: Kysely<Tables>,
  range: RowsOfRun,
): Promise<RowAndPerson[]> {
  const { rows } = await sql<PersonRow & { readonly identity_keys: string[] }>`
    with r as materialized (
      ${rowsOf(range)}
      and not exists (
        select from contacts c where c.source = ${range.source} and c.contact_id = r.contact_id)
    ), named as (
      select r.row_number, o.person_key, o.observation_id, u.run_id is not null as is_undone
      from r
      cross join unnest(r.keys) as identity_key
      join observations o on o.identity_keys @> array[identity_key] and o.service = ${range.service}
      left join runs u on u.run_id = o.run_id and u.undone_at is not null
      where identity_key !~ '^(?:name:|hash:|email:.*[|])'
        and o.person_id is not null
      union all
      select r.row_number, p.person_key, null, false
      from r
      join people p on p.service = ${range.service}
        and (md5(p.email) = r.hashed_email or email_sha256(p.email) = r.hashed_email)
      where r.hashed_email is not null
        and p.person_id is not null
    ), found as (
      select row_number, person_key, bool_and(is_undone) as is_undone, max(observation_id) as observation_id
      from named
      group by row_number, person_key
    )
    select r.row_number, r.contact_id, ${cells}, f.person_key, f.is_undone,
      case when f.is_undone then undone.person else known.person end as person,
      coalesce(known.keys, undone.keys, '{}') as identity_keys
    from found f
    join r on r.row_number = f.row_number
    left join lateral (
      select ${personOfProjection} as person,
        array(select 'email:' || (e ->> 'email') from jsonb_array_elements(p.emails) e)
          || array['person:' || p.person_id, 'domain:' || p.organization_domain] as keys
      from people p
      where p.service = ${range.service} and p.person_key = f.person_key
    ) known on not f.is_undone
    left join lateral (
      select ${personOfFacts} as person,
        o.identity_keys || ('domain:' || (o.facts #>> '{organization_name,organization_domain}')) as keys
      from observations o
      where o.service = ${range.service} and o.person_key = f.person_key and o.kind = 'answer'
      order by o.asked_at desc, o.observation_id desc
      limit 1
    ) undone on f.is_undone
    where coalesce(known.person, undone.person) is not null
    order by r.row_number, f.person_key
  `.execute(database);
  const listed = await listedAmong(database, rows);
  return rows.filter((_, index) => !listed.has(index)).map(asRowAndPerson);
}

/** Indexes of the people who are on the suppression list by what the service said about them. */
async function listedAmong(
  database: Kysely<Tables>,
  rows: readonly { readonly identity_keys: readonly (string | null)[] }[],
): Promise<ReadonlySet<number>> {
  if (rows.length === 0 || !(await hasSuppressions(database))) return new Set();
  const keys = rows.flatMap(({ identity_keys }, index) =>
    identity_keys.flatMap((key) => (key === null ? [] : [{ index, key }])),
  );
  const listed = await sql<{ row_number: number }>`
    ${listedRows(sql`
      select * from unnest(${keys.map(({ index }) => index)}::int[], ${keys.map(({ key }) => key)}::text[])
        as named (row_number, identity_key)`)}
  `.execute(database);
  return new Set(listed.rows.map(({ row_number }) => row_number));
}

function asRowAndPerson({ person_key, is_undone, ...row }: PersonRow): RowAndPerson {
  return { ...row, personKey: person_key, isUndone: is_undone };
}

/**
 * The maximum number of contacts that a planned run can fill without a call: contacts that are not asked for and share
 * a strong key with a known person or with a row that is asked for.
 */
export async function countFillable(
  database: Kysely<Tables>,
  { runId, source, service }: Pick<RowsOfRun, 'runId' | 'source' | 'service'>,
): Promise<number> {
  const { rows } = await sql<{ fillable: number }>`
    select count(distinct r.contact_id)::int as fillable
    from run_rows r
    where r.run_id = ${runId}
      and r.outcome in ('duplicate', 'fresh')
      and r.reason !~ '^the same record id'
      and not exists (select from contacts c where c.source = ${source} and c.contact_id = r.contact_id)
      and exists (
        select from unnest(r.keys) as identity_key
        where identity_key !~ '^(?:name:|email:.*[|])'
          and (r.outcome = 'duplicate' or exists (
            select from observations o
            where o.service = ${service}
              and o.identity_keys @> array[identity_key]
              and o.person_id is not null)))
  `.execute(database);
  return rows[0]!.fillable;
}
