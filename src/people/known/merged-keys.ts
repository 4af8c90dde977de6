import { connectedRecords } from '../../domain/identity/connected-records.ts';
import { canBeOnePerson, wereMerged } from '../../domain/identity/merged-people.ts';
import { noVerdicts, type Verdicts } from '../../domain/identity/verdicts.ts';
import { ByMatchKey, identifyingKeys, type KnownPerson, type PeopleToRead } from './known-people.ts';

/** People who are known, by what connects the records of one person. */
export class KnownRecords {
  readonly #byMatchKey: ByMatchKey<KnownPerson>;
  readonly #byKey: ReadonlyMap<string, KnownPerson>;

  constructor(people: readonly KnownPerson[]) {
    this.#byMatchKey = new ByMatchKey(people);
    this.#byKey = new Map(people.map((person) => [person.personKey, person]));
  }

  /**
   * All keys of a person, in order: the person's own key, and those of records that the service has merged with the
   * person's, or from which it has changed the id. The phones and addresses of all these keys are the person's. Keys of
   * an earlier decision whom only undone runs know stay, because an undo can be reverted.
   *
   * @param verdicts decisions about a contact that gets the person: rejected keys are left out
   * @returns null if the person has one key
   */
  keysOf(person: KnownPerson, verdicts: Verdicts = noVerdicts): readonly string[] | null {
    const records = [person, ...this.mergedWith(person)];
    const undone = records.flatMap(({ mergedKeys }) => mergedKeys.filter((key) => !this.#byKey.has(key)));
    const keys = new Set([...records.map(({ personKey }) => personKey), ...undone]);
    const own = [...keys].filter((key) => verdicts.get(key) !== 'rejected');
    return own.length > 1 ? own.toSorted() : null;
  }

  /**
   * The person's record of the newest call, whichever record a contact fits: every contact of the person gets its data.
   *
   * @param verdicts decisions about the contact: rejected records are left out
   */
  newestOf(person: KnownPerson, verdicts: Verdicts = noVerdicts): KnownPerson {
    const others = this.mergedWith(person).filter(({ personKey }) => verdicts.get(personKey) !== 'rejected');
    // A record without a name has only late results.
    const [first, ...rest] = [person, ...others].filter(({ compared }) => compared.name !== undefined);
    return rest.reduce((newest, other) => (other.askedAt > newest.askedAt ? other : newest), first ?? person);
  }

  /** The other records of a person. Each link has evidence of its own, now or when a contact got both keys. */
  mergedWith(person: KnownPerson): readonly KnownPerson[] {
    return connectedRecords(person, (record) => this.#linkedTo(record), isSameRecord, canBeMerged).slice(1);
  }

  #linkedTo(record: KnownPerson): readonly KnownPerson[] {
    const sharing = this.#byMatchKey.sharing(identifyingKeys(record));
    return [
      ...sharing.filter((other) => haveIds(other, record) && wereMerged(other.compared, record.compared)),
      ...record.mergedKeys.flatMap((key) => this.#byKey.get(key) ?? []),
    ];
  }
}

function isSameRecord(one: KnownPerson, other: KnownPerson): boolean {
  return one.personKey === other.personKey;
}

/** A record without an id belongs to the contact that a call asked for. */
function haveIds(...records: readonly KnownPerson[]): boolean {
  return records.every(({ compared }) => compared.personId !== undefined);
}

/** If one answer has both records, the service itself distinguishes them. */
function canBeMerged(one: KnownPerson, other: KnownPerson): boolean {
  return one.askedAt.getTime() !== other.askedAt.getTime() && canBeOnePerson(one.compared, other.compared);
}

type ReadPeople = (keys: PeopleToRead) => Promise<readonly KnownPerson[]>;

/**
 * Reads the records that other records connect with the people. For people with one record it executes no statement, or
 * one statement for all of them that are in `unread`.
 *
 * @param people whose keys are needed
 * @param known everybody who was read, with or without these people
 * @param unread people who were read by some of their identifiers: another record may share only a further identifier
 * @returns everybody who is known now
 */
export async function withMergedRecords(
  read: ReadPeople,
  people: readonly KnownPerson[],
  known: readonly KnownPerson[],
  unread: readonly KnownPerson[] = [],
): Promise<readonly KnownPerson[]> {
  const all = new Map(known.map((person) => [person.personKey, person]));
  const done = new Set<string>();
  for (;;) {
    const records = new KnownRecords([...all.values()]);
    const merged = people.flatMap((person) => records.mergedWith(person));
    const next = [...unread, ...merged].filter(({ personKey }) => !done.has(personKey));
    const personKeys = [...people, ...merged].flatMap(({ mergedKeys }) =>
      mergedKeys.filter((key) => !all.has(key) && !done.has(key)),
    );
    if (next.length + personKeys.length === 0) return [...all.values()];
    for (const key of [...personKeys, ...next.map(({ personKey }) => personKey)]) done.add(key);
    const found = await read({
      matchKeys: [...new Set(next.flatMap(identifyingKeys))],
      personKeys,
      except: [...all.keys()],
    });
    for (const person of found) if (!all.has(person.personKey)) all.set(person.personKey, person);
  }
}
