import { sql, type RawBuilder, type Transaction } from 'kysely';
import {
  contradictionOf,
  decidePerson,
  isPossibleFit,
  type Candidate,
} from '../domain/identity/decide-person.ts';
import {
  toComparedIdentity,
  toComparedPerson,
  weighFit,
  type ComparedIdentity,
  type Evidence,
} from '../domain/identity/identity-evidence.ts';
import { identityOfColumns, type IdentityColumns } from '../domain/identity/identity.ts';
import {
  hashMatchKeys,
  matchKeysOfIdentity,
  matchKeysOfPerson,
  contactOwnerKey,
} from '../domain/identity/match-keys.ts';
import type { Person } from '../domain/identity/person.ts';
import { noVerdicts, verdictOnPerson, type ContactDecision } from '../domain/identity/verdicts.ts';
import { personColumns } from '../domain/warehouse/person-columns.ts';
import { exportSortKey } from '../db/run-states.ts';
import type { Tables } from '../db/schema.ts';
import { contactKeyText, unnestContacts, type ContactKey } from '../keys/contact-key.ts';
import type { AnsweredCall } from './answered-call.ts';
import { contactDecisionsJson, verdictsThatHold } from './decisions/contact-decisions.ts';
import { toPersonForIdentity } from './fold.ts';
import { isAboutPeople, personReferenceText, type PersonReference } from './people-tables.ts';

/** A current or earlier person of a contact, with the newest call for this contact that found the person. */
export interface ContactMatch extends PersonReference {
  readonly matchId: string;
  readonly evidence: string;
  readonly isOpen: boolean;
  readonly asked: boolean;
  readonly runId: string;
  readonly rowNumber: number;
  readonly attemptId: string | null;
  /** Time of the call, in microseconds since 1970; null if the match has no call. */
  readonly askedAt: number | null;
}

/** The reason for no match if the newest record of a contact is blocked. */
const blockedReason = 'the record is suppressed, or rows with its id name different people';

/** The decision which person a contact is. */
export type PersonOfContact =
  | { readonly person: KnownPerson; readonly evidence: Evidence; readonly record: ContactRecord }
  | {
      readonly person: undefined;
      /** Why the contact has no person; undefined if no person comes near. */
      readonly reason: string | undefined;
      /** True if a person fits the contact, but not with certainty. */
      readonly isRefused: boolean;
    };

/** The people and contacts that a digest compares: they share a key with a person or contact that needs a decision. */
export class Neighbourhood {
  readonly #transaction: Transaction<Tables>;
  /** Calls of this digest by contact key, with the keys of the people in their answers. */
  readonly #calls = new Map<string, Set<{ readonly askedAt: number; readonly people: readonly string[] }>>();
  /** Time of the newest call of this digest for each identity key. */
  readonly #askedKeys = new Map<string, number>();
  readonly #people = new Map<string, KnownPerson>();
  readonly #contacts = new Map<string, ContactState>();
  readonly #peopleByKey = new Map<string, Set<KnownPerson>>();
  readonly #readKeys = new Set<string>();
  readonly #contactsByKey = new Map<number, Set<ContactState>>();

  constructor(transaction: Transaction<Tables>) {
    this.#transaction = transaction;
  }

  /**
   * Adds a call of this digest. Must happen before contacts are read.
   *
   * @param people keys of the people in the answer
   */
  addCall({ rows, askedAtMicroseconds: askedAt }: AnsweredCall, people: readonly string[]): void {
    for (const row of rows) {
      addTo(this.#calls, contactKeyText(row), { askedAt, people });
      for (const key of row.compared.keys)
        this.#askedKeys.set(key, Math.max(askedAt, this.#askedKeys.get(key) ?? 0));
    }
  }

  /** Adds a person that this digest has written. @param keys keys by which contacts find the person */
  addPerson(person: KnownPerson, keys: readonly number[]): void {
    this.#people.set(personReferenceText(person), person);
    for (const key of keys) addTo(this.#peopleByKey, `${person.service} ${key}`, person);
  }

  /** Undefined if the person was neither read nor added. */
  person(person: PersonReference): KnownPerson | undefined {
    return this.#people.get(personReferenceText(person));
  }

  #contact(contact: ContactKey): ContactState | undefined {
    return this.#contacts.get(contactKeyText(contact));
  }

  /** Reads the contacts that are not read yet. @returns all of the given contacts */
  async readContacts(contacts: readonly ContactKey[]): Promise<ContactState[]> {
    const missing = contacts.filter((contact) => !this.#contact(contact));
    const { rows } = missing.length > 0 ? await readStates(missing).execute(this.#transaction) : { rows: [] };
    for (const row of rows) {
      const state = contactState(row, this.#askedKeys);
      this.#contacts.set(contactKeyText(row), state);
      for (const { compared } of state.records)
        for (const key of matchKeysOfIdentity(compared.identity)) addTo(this.#contactsByKey, key, state);
    }
    return [...new Set(contacts.map((contact) => this.#contact(contact)!))];
  }

  /**
   * Reads the contacts that share a key with one of these people, or that are or were matched to one of them.
   *
   * @param more further keys of contacts to read
   */
  async readContactsOf(
    people: readonly (PersonReference & { readonly matchKeys: readonly number[] })[],
    more: readonly number[] = [],
  ): Promise<ContactState[]> {
    if (people.length + more.length === 0) return [];
    const keys = [...new Set([...people.flatMap(({ matchKeys }) => matchKeys), ...more])];
    const { rows } = await sql<ContactKey>`
      select source, contact_id as "contactId" from contact_keys where key = any(${keys}::integer[])
      union
      select source, contact_id from contact_matches
      where ${isAboutPeople(people)}
    `.execute(this.#transaction);
    return this.readContacts(rows);
  }

  /**
   * Reads the people who could be one of these contacts, the current people of these contacts, and the people in
   * decisions of the operator about them.
   *
   * @param asRivals true: also people who share only name and employer with a contact that no call was made for
   */
  async readPeopleOf(contacts: readonly ContactState[], asRivals = false): Promise<void> {
    const named = contacts.flatMap(({ match, service, verdicts }) => [
      ...(match ? [match] : []),
      ...(service === undefined ? [] : [...verdicts.keys()].map((personKey) => ({ service, personKey }))),
    ]);
    for (const service of new Set([...contacts, ...named].flatMap((each) => each.service ?? [])))
      await this.#readPeople(
        service,
        contacts.flatMap((contact) => (contact.service === service ? keysOfContact(contact, asRivals) : [])),
        named.flatMap((person) => (person.service === service ? person.personKey : [])),
      );
  }

  /** Reads people by match keys and person keys. Each key is read only once. */
  async #readPeople(service: string, keys: readonly number[], personKeys: readonly string[]): Promise<void> {
    const missing = personKeys.filter((personKey) => !this.person({ service, personKey }));
    const unread = [...new Set(keys)].filter((key) => !this.#readKeys.has(`${service} ${key}`));
    if (unread.length + missing.length === 0) return;
    for (const key of unread) this.#readKeys.add(`${service} ${key}`);
    const read = [...this.#people.values()].flatMap((each) =>
      each.service === service ? each.personKey : [],
    );
    const { rows } = await sql<{
      readonly personKey: string;
      readonly keys: readonly (number | null)[];
      /** The person's values; null if the person was read before, so that only the keys are new. */
      readonly person: (Parameters<typeof toPersonForIdentity>[0] & { readonly askedAt: number }) | null;
    }>`
      with found as materialized (
        select person_key, array_agg(key) as keys
        from (
          select person_key, key from person_keys where key = any(${unread}::integer[]) and service = ${service}
          union all
          select unnest(${missing}::text[]), null
        ) named
        group by person_key
      )
      select n.person_key as "personKey", n.keys, p.person
      from found n
      left join (
        select person_key, jsonb_build_object('columns', jsonb_build_object(${columnMembers}), 'emails', emails,
          'employment', employment, 'askedAt', (extract(epoch from enriched_at) * 1000000)::float8) as person
        from people p
        where service = ${service}
          and person_key = any(array(select person_key from found where person_key <> all(${read}::text[])))
      ) p using (person_key)
      order by n.person_key
    `.execute(this.#transaction);
    for (const { personKey, keys: found, person } of rows) {
      const known =
        this.person({ service, personKey }) ??
        (person &&
          toKnownPerson({
            service,
            personKey,
            person: toPersonForIdentity(person),
            askedAt: person.askedAt,
          }));
      if (!known) continue;
      this.#people.set(personReferenceText(known), known);
      for (const key of found) if (key !== null) addTo(this.#peopleByKey, `${service} ${key}`, known);
    }
  }

  /**
   * The people who could be the contact of a record. A person without an id can only be the contact that it was found
   * for.
   *
   * @param byName true: name and employer count, not only identifiers; default: only once a call was made for the
   *   record
   */
  candidatesOf(
    contact: ContactState,
    record: ContactRecord,
    service: string,
    byName = record.askedAt !== null,
  ): KnownPerson[] {
    const keys = [...keysOfRecord(record, byName), contactOwnerKey(contact.source, contact.contactId)];
    const found = new Set(keys.flatMap((key) => [...(this.#peopleByKey.get(`${service} ${key}`) ?? [])]));
    for (const personKey of contact.verdicts.keys()) {
      const decided = this.person({ service, personKey });
      if (decided) found.add(decided);
    }
    return [...found].toSorted((one, other) => (one.personKey < other.personKey ? -1 : 1));
  }

  /**
   * The newest cells of other contacts that could be this person. Contacts for which the operator rejected the person
   * are left out.
   */
  rivalsOf(contact: ContactKey, person: KnownPerson): ComparedIdentity[] {
    const sharing = new Set(person.matchKeys.flatMap((key) => [...(this.#contactsByKey.get(key) ?? [])]));
    return [...sharing].flatMap((other) =>
      (other.source === contact.source && other.contactId === contact.contactId) ||
      verdictOnPerson(other.verdicts, person.compared) === 'rejected' ||
      other.records[0] === undefined
        ? []
        : [other.records[0].compared],
    );
  }

  /**
   * People who fit a contact only by weak evidence. The contact gets such a person only if no other contact competes.
   *
   * @param asRival true: also people that this contact cannot get but keeps from other contacts
   */
  weakCandidates(contact: ContactState, asRival = false): KnownPerson[] {
    const { service } = contact;
    if (service === undefined) return [];
    return contact.records.flatMap((record) => {
      if (record.askedAt === null && !asRival) return [];
      const people = this.candidatesOf(contact, record, service, true);
      const fits = people.map(({ compared }) => weighFit(record.compared, compared));
      if (asRival) return people.filter((_, index) => isPossibleFit(fits[index]!));
      return fits.some(({ strength }) => strength === 'strong')
        ? []
        : people.filter((_, index) => fits[index]!.strength === 'weak');
    });
  }

  /**
   * Decides which person a contact is, by one of its records.
   *
   * @returns the decision, and the people to which its indexes refer
   */
  decideBy(contact: ContactState, record: ContactRecord) {
    const { service, verdicts, matches } = contact;
    const people = service === undefined ? [] : this.candidatesOf(contact, record, service);
    const fits = ({ compared }: KnownPerson): boolean =>
      weighFit(record.compared, compared).strength !== 'none';
    const fitting = new Set(people.flatMap((person) => (fits(person) ? person.personKey : [])));
    // If the answer to a newer call contains no person who fits, people of earlier answers stay valid. People without
    // an id show when the contact was looked up, because they come from its own calls.
    const contactAskedAt = Math.max(
      ...people.map((person) =>
        person.compared.personId === undefined && fits(person) ? person.askedAt : 0,
      ),
      ...matches.map((match) => (fitting.has(match.personKey) ? (match.askedAt ?? 0) : 0)),
      ...[...(this.#calls.get(contactKeyText(contact)) ?? [])].map((call) =>
        call.people.some((person) => fitting.has(person)) ? call.askedAt : 0,
      ),
    );
    const candidates = people.map(({ compared, askedAt, personKey }): Candidate => ({
      person: compared,
      askedAt,
      isFormer:
        askedAt < contactAskedAt && matches.some((each) => each.asked && each.personKey === personKey),
    }));
    const decision = decidePerson(record.compared, {
      candidates,
      others: (person) =>
        this.rivalsOf(
          contact,
          people.find(({ compared }) => compared === person)!,
        ),
      wasAsked: record.askedAt !== null,
      verdicts,
    });
    return { decision, people };
  }

  /**
   * Decides which person a contact is by the newest record. If this record shows no person, an earlier record decides,
   * unless its person contradicts the newest cells: so a contact keeps its person when only e-mail or employer change.
   * Suppressed and contested records get no person.
   */
  decide(contact: ContactState): PersonOfContact {
    const [newest, ...earlier] = contact.records;
    if (!newest) return { person: undefined, reason: undefined, isRefused: false };
    if (newest.isBlocked) return { person: undefined, reason: blockedReason, isRefused: true };
    const first = this.decideBy(contact, newest);
    if (first.decision.kind === 'person')
      return {
        person: first.people[first.decision.index]!,
        evidence: first.decision.evidence,
        record: newest,
      };
    const { reason } = first.decision;
    const isRefused = first.decision.kind === 'refused';
    if (first.decision.kind === 'refused' && first.decision.isStrong)
      return { person: undefined, reason, isRefused };
    for (const record of earlier) {
      const { decision, people } = this.decideBy(contact, record);
      if (decision.kind !== 'person') continue;
      const person = people[decision.index]!;
      if (isRefused && weighFit(record.compared, person.compared).strength !== 'strong') continue;
      if (contradictionOf(newest.compared.identity, person.person) !== undefined) continue;
      return { person, evidence: decision.evidence, record: newest };
    }
    return { person: undefined, reason, isRefused };
  }

  /** True if a contact could get or lose one of these people, whatever person it has now. */
  isNear(contact: ContactState, people: readonly KnownPerson[]): boolean {
    return people.some(
      (person) =>
        contact.match?.personKey === person.personKey ||
        contact.records.some((record) => {
          const fit = weighFit(record.compared, person.compared);
          return isPossibleFit(fit) || (fit.strength === 'none' && fit.sharesIdentifier);
        }),
    );
  }
}

/** A person who is in a stored answer. Times are microseconds since 1970. */
export type KnownPerson = ReturnType<typeof toKnownPerson>;

/** Prepares a stored person for comparisons with contacts. */
export function toKnownPerson(
  known: PersonReference & {
    readonly person: Person;
    /** Time of the call for the newest answer about the person, in microseconds since 1970. */
    readonly askedAt: number;
  },
) {
  return { ...known, compared: toComparedPerson(known.person), matchKeys: matchKeysOfPerson(known.person) };
}

/** A contact with its records, the newest first, and its person. */
export type ContactState = ReturnType<typeof contactState>;

/** The cells of a contact in one export. */
type ContactRecord = ContactState['records'][number];

/** @param askedKeys times of this digest's calls by identity key, which the lookup history does not have yet */
function contactState({ records: read, ...row }: StateRow, askedKeys: ReadonlyMap<string, number>) {
  const records = read.map(({ runId, rowNumber, askedAt: askedBefore, isBlocked, ...cells }) => {
    const compared = toComparedIdentity(identityOfColumns(cells));
    const times = [askedBefore, ...compared.keys.map((key) => askedKeys.get(key))];
    const asked = Math.max(...times.map((time) => time ?? 0));
    return {
      runId,
      rowNumber,
      isBlocked,
      compared,
      /** Time of the newest call for a key of this record; null if there was none. */
      askedAt: asked === 0 ? null : asked,
    };
  });
  return {
    ...row,
    /** Service of the run with the newest record; undefined if the contact has no record. */
    service: read[0]?.service,
    records,
    match: row.matches.find(({ isOpen }) => isOpen),
    verdicts: records[0] ? verdictsThatHold(row.decisions, records[0].compared) : noVerdicts,
  };
}

/** Keys that lead to all people who could be a record. Before the first call for a record, only identifiers count. */
function keysOfRecord({ compared }: ContactRecord, byName: boolean): readonly number[] {
  return byName ? matchKeysOfIdentity(compared.identity) : hashMatchKeys(compared.keys);
}

/**
 * Keys that lead to all people who could be a contact.
 *
 * @param asRivals true: names also count for contacts without a call
 */
function keysOfContact({ source, contactId, records }: ContactState, asRivals: boolean): number[] {
  return [
    ...records.flatMap((record) => keysOfRecord(record, asRivals || record.askedAt !== null)),
    contactOwnerKey(source, contactId),
  ];
}

/** Adds a value to the set of a key, and creates the set if it is missing. */
function addTo<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const found = sets.get(key);
  if (found) found.add(value);
  else sets.set(key, new Set([value]));
}

const columnMembers = sql.raw(personColumns.map(({ name }) => `'${name}', p.${name}`).join(', '));

interface StateRow extends ContactKey {
  readonly records: readonly (IdentityColumns & {
    readonly runId: string;
    readonly rowNumber: number;
    readonly service: string;
    readonly askedAt: number | null;
    readonly isBlocked: boolean;
  })[];
  /** All current and earlier matches of the contact. Matches by a call come first, the newest first. */
  readonly matches: readonly ContactMatch[];
  readonly decisions: readonly ContactDecision[] | null;
}

/** The maximum number of records of a contact that can decide about its person. Few contacts have more records. */
const maxRecords = 5;

/** Query of the newest records (without undone runs), matches and decisions of contacts. */
function readStates(contacts: readonly ContactKey[]): RawBuilder<StateRow> {
  const service = sql`u.options ->> 'service'`;
  return sql<StateRow>`
    with n as materialized (select distinct * from ${unnestContacts(contacts)} as named (source, contact_id))
    select n.source, n.contact_id as "contactId", k.records,
      (
        select coalesce(jsonb_agg(
          jsonb_build_object('matchId', m.match_id::text, 'service', m.service, 'personKey', m.person_key,
            'evidence', m.evidence, 'isOpen', m.valid_to is null, 'asked', m.asked, 'runId', m.run_id,
            'rowNumber', m.row_number, 'attemptId', m.attempt_id,
            'askedAt', (extract(epoch from a.admitted_at) * 1000000)::float8)
          order by m.asked desc, m.match_id desc), '[]')
        from contact_matches m
        left join attempts a on a.attempt_id = m.attempt_id
        where m.source = n.source and m.contact_id = n.contact_id
      ) as matches,
      ${contactDecisionsJson(sql`k.records -> 0 ->> 'service'`, sql`n.source`, sql`n.contact_id`)} as decisions
    from n
    left join lateral (
      select coalesce(jsonb_agg(record order by place), '[]') as records
      from (
        select row_number() over (order by ${sql.raw(exportSortKey('u'))} desc, k.recorded_at desc) as place,
          to_jsonb(k) || jsonb_build_object('runId', k.run_id, 'rowNumber', k.row_number, 'service', ${service},
            'isBlocked', k.is_blocked,
            'askedAt', (
              select (extract(epoch from max(asked_at)) * 1000000)::float8
              from lookup_history
              where field_group = 'profile'
                and key_hash = any(array(select key_hash(key, ${service}) from unnest(k.keys) as own (key)))
            )) as record
        from contact_records k
        join runs u on u.run_id = k.run_id and u.undone_at is null
        where k.source = n.source and k.contact_id = n.contact_id
      ) records
      where place <= ${maxRecords}
    ) k on true
    order by n.source, n.contact_id`;
}
