import { sql, type Kysely } from 'kysely';
import { alignMatches, type KnownElsewhere } from '../../domain/identity/alignment.ts';
import type { Tables } from '../../db/schema.ts';
import { answeredRows, type AnswerToRecord } from './answered-rows.ts';
import {
  isStub,
  readyPerson,
  areTwoPeople,
  readyIdentity,
  weigh,
  type ComparedPerson,
} from '../../domain/identity/identity-evidence.ts';
import {
  matchKeysOfPerson,
  matchKeysOfIdentity,
  matchKeysOfIdentityKeys,
} from '../../domain/identity/match-keys.ts';
import type { Person } from '../../domain/identity/person.ts';
import {
  personOfFacts,
  readDecidedPeople,
  recordsOfDecided,
  ByMatchKey,
  identifyingKeys,
  readKnownPeople,
  readKnownRows,
  type KnownPerson,
  type KnownRow,
} from '../../people/known/known-people.ts';
import { keyOfId, keyOfStranger } from '../../people/log/observation.ts';
import { verdictOn, type RowDecision, type Verdicts } from '../../domain/identity/verdicts.ts';
import { isSameContact } from '../../keys/contact-key.ts';
import { asCandidate } from '../../people/contacts/neighbourhood.ts';
import { verdictsOf } from '../../people/decisions/contact-decisions.ts';
import type { OpenPerson } from '../batches/open-people.ts';
import { isPossible } from '../../domain/identity/decide-person.ts';
import type { ContactState } from '../../people/contacts/contact-states.ts';
import { readDoubtfulContacts } from '../../people/contacts/contacts-by-match-key.ts';
import { anotherFits, findChanges } from '../../people/contacts/find-changes.ts';

/** An answer, compared with the rows of its call and with what other answers and rows say. */
export type ComparedAnswer = Awaited<ReturnType<typeof compareAnswer>>;

/**
 * Decides which row gets which person of an answer, and which other contacts lose theirs. Writes nothing.
 *
 * @returns `answer` with the ids under which the warehouse has its people
 */
export async function compareAnswer(
  database: Kysely<Tables>,
  call: Omit<AnsweredCall, 'arrived'>,
  received: AnswerToRecord,
) {
  const { service, people } = call;
  const { matches, newKeys } = await withOwnIds(database, service, received.matches);
  const answer = { ...received, matches };
  const answered = { ...call, arrived: arrivedPeople(matches) };
  const elsewhere = await readElsewhere(database, answered);
  const identities = people.map((person) => person.identity);
  const alignment = alignMatches(identities, matches, elsewhere);
  const { rows, unmatched } = answeredRows(people, alignment, answer);
  const accepted = rows.flatMap(({ outcome, contactId }) => (outcome === 'enriched' ? [contactId] : []));
  const withdrawals = await findWithdrawals(database, answered, new Set(accepted));
  return { answer, newKeys, alignment, rows, unmatched, withdrawals };
}

/** The people of an answer, in the form of people who are known. */
function arrivedPeople(matches: readonly (Person | null)[]): KnownPerson[] {
  const askedAt = new Date();
  return matches.flatMap((person): KnownPerson[] => {
    if (person === null || isStub(person)) return [];
    const compared = readyPerson(person);
    const personKey = compared.personId === undefined ? keyOfStranger(person) : keyOfId(compared.personId);
    const matchKeys = matchKeysOfPerson(person);
    return [{ personKey, person, compared, matchKeys, askedAt, givenTo: new Map() }];
  });
}

/** The people of an answer, and which of their ids the log did not have before. */
interface PeopleWithOwnIds {
  readonly matches: readonly (Person | null)[];
  readonly newKeys: ReadonlySet<string>;
}

/**
 * Removes ids that belong to somebody else: the log, or the same answer, has the id for a person of another name. The
 * person then counts as a person without an id.
 */
async function withOwnIds(
  database: Kysely<Tables>,
  service: string,
  matches: readonly (Person | null)[],
): Promise<PeopleWithOwnIds> {
  const keys = new Set(matches.flatMap((person) => keyOf(person) ?? []));
  const known = await readByKey(database, service, [...keys]);
  const own = matches.map((person, index) => {
    const key = keyOf(person);
    if (person === null || key === undefined) return person;
    const before = known.get(key);
    const others = before
      ? [before]
      : matches.filter((other, place) => place !== index && keyOf(other) === key);
    return others.some((other) => other && areTwoPeople(readyPerson(person), readyPerson(other)))
      ? { ...person, id: null }
      : person;
  });
  return { matches: own, newKeys: new Set([...keys].filter((key) => !known.has(key))) };
}

function keyOf(person: Person | null): string | undefined {
  const id = person === null ? undefined : readyPerson(person).personId;
  return id === undefined ? undefined : keyOfId(id);
}

/**
 * Reads what an answer with a name last said of people, undone runs included: an undo can be reverted. Phones that a
 * run reuses have no name, so nothing would contradict them.
 */
async function readByKey(
  database: Kysely<Tables>,
  service: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Person>> {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<{ key: string; person: Person }>`
    select k.key, o.person
    from unnest(${keys}::text[]) as k (key)
    cross join lateral (
      select ${personOfFacts} as person
      from observation_log o
      where o.service = ${service} and o.person_key = k.key and o.kind in ('answer', 'reused')
      order by o.facts ?| '{first_name,name}' desc, o.observation_id desc
      limit 1
    ) o
  `.execute(database);
  return new Map(rows.map(({ key, person }) => [key, person]));
}

/** A call whose answer is to be aligned. */
interface AnsweredCall {
  readonly attemptId: string;
  readonly source: string;
  readonly service: string;
  /** In the order of `details`. */
  readonly people: readonly OpenPerson[];
  readonly arrived: readonly KnownPerson[];
  readonly decisions: readonly RowDecision[];
}

type AskedRow = Pick<KnownRow, 'source' | 'contactId' | 'compared' | 'verdicts'> & {
  /**
   * Only weak evidence, such as a name with an employer, connects the row with people of the answer. So everybody of
   * the row's name is looked up: the row could be one of them. Other rows are looked up by their identifiers.
   */
  readonly isWeaklyFound: boolean;
  /** Match keys of the known people who could be the row. */
  readonly keysToLookUp: readonly number[];
};

/** Reads what other answers and other rows say about the rows and the people of a call. */
async function readElsewhere(database: Kysely<Tables>, call: AnsweredCall): Promise<KnownElsewhere> {
  const { attemptId, service, arrived } = call;
  const asked = askedRows(call);
  const known = await readKnown(database, service, asked, arrived);
  const knownOfRow = knownOfRows(asked, known);
  const ofRows = [...new Set(knownOfRow.flat())];
  const rows = [...asked, ...(await readRivalRows(database, service, asked, [...arrived, ...ofRows]))];
  const lastAskedAt = ofRows.length > 0 ? await startOfRun(database, attemptId) : null;
  return {
    candidatesOf: (row) =>
      knownOfRow[row]!.map((person) => asCandidate(person, { ...asked[row]!, lastAskedAt })),
    othersOf: (row, person) =>
      rows
        .filter((other) => !isSameContact(other, asked[row]!) && !isRejected(other, person))
        .map(({ compared }) => compared),
    verdictsOf: (row) => asked[row]!.verdicts,
  };
}

function askedRows({ source, people, arrived, decisions }: AnsweredCall): AskedRow[] {
  return people.map(({ rowNumber, contactId, identity }) => {
    const compared = readyIdentity(identity);
    const ofRow = decisions.filter((decision) => decision.rowNumber === rowNumber);
    const verdicts = verdictsOf(ofRow, compared);
    const fits = arrived
      .filter((person) => verdictOn(verdicts, person.compared) === undefined)
      .map((person) => weigh(compared, person.compared).strength);
    const isWeaklyFound = fits.includes('weak') && !fits.includes('strong');
    const keysToLookUp = isWeaklyFound
      ? matchKeysOfIdentity(compared.identity)
      : matchKeysOfIdentityKeys(compared.keys);
    return { source, contactId, compared, verdicts, isWeaklyFound, keysToLookUp };
  });
}

/** Reads the known people who could be a row or a person of the answer, and the people whom decisions are about. */
async function readKnown(
  database: Kysely<Tables>,
  service: string,
  asked: readonly AskedRow[],
  arrived: readonly KnownPerson[],
): Promise<readonly KnownPerson[]> {
  const decided = await readDecidedPeople(
    database,
    service,
    asked.map(({ verdicts }) => verdicts),
  );
  const sharing = await readKnownPeople(database, service, {
    matchKeys: [
      ...new Set([...asked.flatMap(({ keysToLookUp }) => keysToLookUp), ...arrived.flatMap(identifyingKeys)]),
    ],
  });
  return [...new Map([...decided, ...sharing].map((person) => [person.personKey, person])).values()];
}

function knownOfRows(asked: readonly AskedRow[], known: readonly KnownPerson[]): KnownPerson[][] {
  const byKey = new ByMatchKey(known);
  return asked.map(({ keysToLookUp, verdicts }) => [
    ...new Set([...byKey.sharing(keysToLookUp), ...recordsOfDecided(byKey, verdicts)]),
  ]);
}

/** Reads rows outside of the call that could be the people whom weak evidence connects with rows of the call. */
async function readRivalRows(
  database: Kysely<Tables>,
  service: string,
  asked: readonly AskedRow[],
  people: readonly KnownPerson[],
): Promise<readonly KnownRow[]> {
  const weaklyFound = asked.filter(({ isWeaklyFound }) => isWeaklyFound);
  const weaklyFitting = people.filter((person) =>
    weaklyFound.some(({ compared }) => weigh(compared, person.compared).strength === 'weak'),
  );
  return readKnownRows(database, service, [...new Set(weaklyFitting.flatMap(({ matchKeys }) => matchKeys))]);
}

async function startOfRun(database: Kysely<Tables>, attemptId: string): Promise<Date> {
  const { rows } = await sql<{ created_at: Date }>`
    select runs.created_at from attempts join runs using (run_id) where attempt_id = ${attemptId}
  `.execute(database);
  return rows[0]!.created_at;
}

function isRejected({ verdicts }: { readonly verdicts: Verdicts }, person: ComparedPerson): boolean {
  return verdictOn(verdicts, person) === 'rejected';
}

export interface Withdrawal {
  readonly contact: ContactState;
  readonly reason: string;
}

/**
 * Finds contacts that have a person by an earlier decision, and that could be another person of this answer as well.
 * They lose the person when the answer is recorded. The end of the run decides whom they get.
 *
 * @param accepted ids of contacts that the answer itself decides about
 */
async function findWithdrawals(
  database: Kysely<Tables>,
  { source, service, arrived }: AnsweredCall,
  accepted: ReadonlySet<string>,
): Promise<Withdrawal[]> {
  const contacts = await readDoubtfulContacts(
    database,
    service,
    {
      all: [...new Set(arrived.flatMap(({ matchKeys }) => matchKeys))],
      identifying: [...new Set(arrived.flatMap(identifyingKeys))],
    },
    (contact) =>
      !(contact.source === source && accepted.has(contact.contactId)) &&
      arrived.some(
        ({ personKey, compared }) =>
          personKey !== contact.personKey && isPossible(weigh(contact.compared, compared)),
      ),
  );
  const changes = await findChanges(database, service, contacts, { arrived });
  return changes.flatMap((change) => {
    if (change.kind === 'withdraw') return [change];
    return change.kind === 'fill' && !change.isSamePerson
      ? [{ contact: change.contact, reason: anotherFits }]
      : [];
  });
}
