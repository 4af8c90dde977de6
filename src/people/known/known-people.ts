import { sql, type Kysely, type RawBuilder } from 'kysely';
import {
  readyPerson,
  readyIdentity,
  type ComparedPerson,
  type ComparedIdentity,
} from '../../domain/identity/identity-evidence.ts';
import {
  identifyingKeysOfPerson,
  matchKeysOfPerson,
  matchKeysOfIdentityKeys,
} from '../../domain/identity/match-keys.ts';
import { oncePerObject } from '../../domain/once-per-object.ts';
import { personColumns } from '../../domain/warehouse/person-columns.ts';
import type { Person } from '../../domain/identity/person.ts';
import { isValidMatch, exportOrder, isExport, recordOrder } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import { eachOf, entriesByMatchKey } from '../../keys/key-lookups.ts';
import type { Verdicts, ContactDecision } from '../../domain/identity/verdicts.ts';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity.ts';
import { identityCells } from '../../db/expressions.ts';
import { decisionsOf, verdictsOf } from '../decisions/contact-decisions.ts';
import type { ContactKey } from '../../keys/contact-key.ts';

/** A person whom any answer named, whether a row got the person or not. */
export interface KnownPerson {
  readonly personKey: string;
  readonly person: Person;
  readonly compared: ComparedPerson;
  readonly matchKeys: readonly number[];
  readonly askedAt: Date;
  /** Contacts that have ever been this person (`contactKey`), with the time when they first were. */
  readonly givenTo: ReadonlyMap<string, Date>;
}

/** Computed once for each person: an answer needs the keys several times, and they hash all addresses. */
const identifyingKeysOnce = oncePerObject(identifyingKeysOfPerson);

/** The match keys of a person's identifiers, without those of the name. */
export function identifyingKeys({ person }: Pick<KnownPerson, 'person'>): readonly number[] {
  return identifyingKeysOnce(person);
}

/** The members of a person or an employer that columns of `enriched_contacts` take. */
const membersOf = (owner: 'person' | 'employer'): string =>
  personColumns
    .filter(({ inContacts, [owner]: member }) => inContacts && member !== undefined)
    .map(({ name, [owner]: member }) => `'${member}', p.${name}`)
    .join(', ');

/** A person in the form in which identity is compared, from a row `p` of `people`. */
const personOfProjection = sql.raw(`jsonb_build_object(
      ${membersOf('person')},
      'name', p.name,
      'email', (
        -- Not an address of a waterfall, which the profile does not have, and which another record can have brought.
        select e ->> 'email' from jsonb_array_elements(p.emails) e where e ? 'profile_observation_id'
        order by (e ->> 'profile_observation_id')::bigint desc
        limit 1),
      'email_status', p.email_status,
      'personal_emails', (select coalesce(jsonb_agg(e ->> 'email'), '[]') from jsonb_array_elements(p.emails) e),
      'organization', jsonb_build_object('id', p.organization_id, 'primary_domain', p.organization_domain,
        ${membersOf('employer')}),
      'employment_history', p.employment)`);

/** The identifiers, names and employers of a person, from the facts of an observation `o`. */
export const personOfFacts = sql.raw(`jsonb_build_object(
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

/** Which people are read: those who have one of the match keys or person keys. */
interface PeopleToRead {
  readonly matchKeys: readonly number[];
  readonly personKeys?: readonly string[];
}

/** Reads known people. People with an id come first, then the person of the newest call. */
export async function readKnownPeople(
  database: Kysely<Tables>,
  service: string,
  keys: PeopleToRead,
): Promise<KnownPerson[]> {
  if (keys.matchKeys.length === 0 && !keys.personKeys?.length) return [];
  return read(
    database,
    sql`
      select p.person_key, ${personOfProjection} as person, p.enriched_at as asked_at,
        (
          select jsonb_object_agg(g.contact, g.decided_at) from (
            select m.source || ' ' || m.contact_id as contact, min(m.decided_at) as decided_at
            from contact_matches m
            where m.service = p.service and m.person_key = p.person_key and ${sql.raw(isValidMatch('m'))}
            group by contact
          ) g
        ) as given_to
      from (
        select o.person_key
        from ${entriesByMatchKey('o', eachOf(keys.matchKeys))}
        where o.service = ${service}
        union
        select unnest(${keys.personKeys ?? []}::text[])
      ) named
      cross join lateral (
        select * from people where service = ${service} and person_key = named.person_key offset 0
      ) p
      order by p.person_id is null, p.enriched_at desc, p.person_key`,
  );
}

/**
 * Reads people with an id whom only undone runs know by one of the match keys, as they would be if all kept answers
 * counted. These answers were paid for, and so were the addresses of their late results, which identify a person as
 * those of a known person do.
 *
 * @param keys.personKeys people to whom contacts were matched before an undo, also if other runs know as much
 */
export async function readUndonePeople(
  database: Kysely<Tables>,
  service: string,
  { matchKeys, personKeys = [] }: Pick<PeopleToRead, 'matchKeys' | 'personKeys'>,
): Promise<KnownPerson[]> {
  if (matchKeys.length === 0) return [];
  return read(
    database,
    sql`
      with named as materialized (
        select o.person_key
        from ${entriesByMatchKey('o', eachOf(matchKeys))}
        cross join lateral (
          select from runs where run_id = o.run_id and undone_at is not null offset 0
        ) u
        where o.service = ${service}
          and o.person_id is not null
          and (o.person_key = any(${personKeys}::text[]) or exists (
            (select unnest(o.match_keys) intersect ${eachOf(matchKeys)})
            except
            select unnest(known.match_keys)
            from (select * from observation_log where service = ${service} and person_key = o.person_key offset 0) known
            join runs on runs.run_id = known.run_id and runs.undone_at is null))
        group by o.person_key
      ), kept as materialized (
        select o.*
        from named
        cross join lateral (
          select * from observation_log where service = ${service} and person_key = named.person_key offset 0
        ) o
        where o.kind <> 'reused'
      )
      select distinct on (o.person_key) o.person_key,
        ${personOfFacts} || jsonb_build_object('personal_emails', (
          select coalesce(jsonb_agg(distinct e ->> 'email'), '[]')
          from kept each cross join jsonb_array_elements(each.facts -> 'emails') e
          where each.person_key = o.person_key)) as person,
        o.asked_at, null as given_to
      from kept o
      where o.kind = 'answer'
      order by o.person_key, o.asked_at desc, o.observation_id desc`,
  );
}

async function read(database: Kysely<Tables>, query: RawBuilder<unknown>): Promise<KnownPerson[]> {
  const { rows } = await sql<{
    person_key: string;
    person: Person;
    asked_at: Date;
    given_to: Readonly<Record<string, string>> | null;
  }>`${query}`.execute(database);
  return rows.map(({ person_key: personKey, person, ...row }) => ({
    personKey,
    person,
    compared: readyPerson(person),
    matchKeys: matchKeysOfPerson(person),
    askedAt: row.asked_at,
    givenTo: new Map(Object.entries(row.given_to ?? {}).map(([contact, time]) => [contact, new Date(time)])),
  }));
}

export class ByMatchKey<Value extends { readonly matchKeys: readonly number[] }> {
  readonly #values = new Map<number, Value[]>();

  constructor(values: readonly Value[]) {
    for (const value of values)
      for (const key of value.matchKeys) {
        const found = this.#values.get(key);
        if (found) found.push(value);
        else this.#values.set(key, [value]);
      }
  }

  /** Each value that shares a key, once. */
  sharing(keys: readonly number[]): Value[] {
    return [...new Set(keys.flatMap((key) => this.#values.get(key) ?? []))];
  }
}

/** Reads the people whom decisions are about. */
export async function readDecidedPeople(
  database: Kysely<Tables>,
  service: string,
  decided: readonly Verdicts[],
): Promise<readonly KnownPerson[]> {
  const personKeys = [...new Set(decided.flatMap((verdicts) => [...verdicts.keys()]))];
  return readKnownPeople(database, service, { matchKeys: [], personKeys });
}

/** People whom decisions about a contact concern. */
export function recordsOfDecided(
  people: ByMatchKey<KnownPerson>,
  verdicts: Verdicts,
): readonly KnownPerson[] {
  if (verdicts.size === 0) return [];
  return people
    .sharing(matchKeysOfIdentityKeys([...verdicts.keys()]))
    .filter(({ personKey }) => verdicts.has(personKey));
}

/** A contact that could be a person, as a row of an export has it. */
export interface KnownRow extends ContactKey {
  readonly matchKeys: readonly number[];
  readonly compared: ComparedIdentity;
  readonly verdicts: Verdicts;
}

type FoundRow = Omit<KnownRow, 'compared' | 'verdicts'> &
  IdentityColumns & { readonly decisions: readonly ContactDecision[] | null };

/**
 * Reads the contacts that have one of the match keys: rows of every export and source, whatever their outcome. Of
 * several rows of one contact in one file, the first counts. A row does not count if a newer export has its contact,
 * unless the contact still has a person whom no newer row gave it.
 *
 * @param service whose people decisions are about
 */
export async function readKnownRows(
  database: Kysely<Tables>,
  service: string,
  matchKeys: readonly number[],
): Promise<KnownRow[]> {
  if (matchKeys.length === 0) return [];
  const { rows } = await sql<FoundRow>`
    select known.source, known.contact_id as "contactId", known.match_keys as "matchKeys", ${identityCells('known')},
      ${decisionsOf(sql`${service}`, sql`known.source`, sql`known.contact_id`)} as decisions
    from (
      select distinct on (source, r.contact_id) runs.source, r.contact_id,
        r.run_id, runs.as_of, runs.created_at, r.match_keys, ${identityCells('r')}
      from ${entriesByMatchKey('r', eachOf(matchKeys))}
      cross join lateral (select * from runs where run_id = r.run_id offset 0) runs
      where ${sql.raw(isExport('runs'))}
      order by source, r.contact_id, ${sql.raw(exportOrder('runs'))} desc, ${sql.raw(recordOrder('r'))}
    ) known
    where not exists (
      select
      from (select run_id from run_rows where contact_id = known.contact_id and run_id <> known.run_id offset 0) n
      cross join lateral (select * from runs where run_id = n.run_id offset 0) newer
      where newer.source = known.source
        and ${sql.raw(exportOrder('newer'))} > ${sql.raw(exportOrder('known'))}
        and ${sql.raw(isExport('newer'))})
      or exists (
        select from contacts c
        cross join lateral (select * from runs where run_id = c.run_id offset 0) decided
        where c.source = known.source and c.contact_id = known.contact_id
          and ${sql.raw(exportOrder('decided'))} <= ${sql.raw(exportOrder('known'))})
    order by known.source, known.contact_id
  `.execute(database);
  return rows.map((row) => {
    const compared = readyIdentity(identityOfColumns(row));
    return { ...row, compared, verdicts: verdictsOf(row.decisions, compared) };
  });
}
