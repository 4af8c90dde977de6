import { isRoleAddress, parseEmail } from '../identity/values/email-address.ts';
import { deliveryKinds, lateKinds, lateKindsBy, type DeliveryKind, type LateKind } from './delivery-kinds.ts';

/** A person of an answer, with the identifiers that a delivery can have. */
export interface AwaitingPerson {
  readonly personId: string;
  /** Addresses that an answer confirmed for this person, without those that only the CRM has. */
  readonly emails: readonly string[];
}

export interface NamedPerson {
  readonly id: string | undefined;
  /** All that the body states, results or not. */
  readonly addresses: readonly string[];
}

/**
 * Assigns the people of a delivery to the people of the answer, by the service's person id.
 *
 * In a waterfall ids may differ from those of the answer. An address is then evidence as well, on three conditions: no
 * other person of the answer or the body has the address, it is no shared mailbox, and no person of the body has the id
 * of its owner. All other people are assigned to no person, even if only one is left. A person with the id of one
 * person of the answer and the address of another is assigned to neither.
 *
 * @param awaiting people of the answer; two rows of a file can be one person
 * @param knownIds ids of all people in answers, of this call and of others: such an id identifies only that person
 * @returns for each person of the body the indexes in `awaiting`; empty: assigned to none
 */
export function assignDelivered(
  awaiting: readonly AwaitingPerson[],
  people: readonly NamedPerson[],
  origin: DeliveryKind,
  knownIds: readonly string[],
): number[][] {
  const ofId = indexBy(awaiting, ({ personId }) => [personId]);
  const byId = people.map(({ id }) => (id === undefined ? [] : (ofId.get(id) ?? [])));
  if (deliveryKinds[origin].keepsIds) return byId;
  const ofEmail = indexBy(awaiting, ({ emails }) => emails.map((email) => email.toLowerCase()));
  const contradicts = ({ id, addresses }: NamedPerson): boolean =>
    ownersByAddress(ofEmail, addresses).some((owners) =>
      owners.every((owner) => awaiting[owner]!.personId !== id),
    );
  const taken = new Set(byId.flat().map((index) => awaiting[index]!.personId));
  const known = new Set(knownIds);
  const claims = people.map((person, index) => {
    if (byId[index]!.length > 0 || (person.id !== undefined && known.has(person.id))) return [];
    const owned = ownersByEmail(awaiting, ofEmail, person);
    return owned.filter((owner) => !taken.has(awaiting[owner]!.personId));
  });
  const claimants = indexBy(claims, (claim) => claim);
  return people.map((person, index) => {
    if (byId[index]!.length > 0) return contradicts(person) ? [] : byId[index]!;
    const claim = claims[index]!;
    return claim.every((owner) => claimants.get(owner)!.length === 1) ? claim : [];
  });
}

/** The indexes of the person who has one of the addresses; empty if two people have. */
function ownersByEmail(
  awaiting: readonly AwaitingPerson[],
  ofEmail: ReadonlyMap<string, readonly number[]>,
  person: NamedPerson,
): number[] {
  const owned = new Set(ownersByAddress(ofEmail, person.addresses).flat());
  return new Set([...owned].map((index) => awaiting[index]!.personId)).size === 1 ? [...owned] : [];
}

/** For each address, except shared mailboxes, the indexes of people who have it. */
function ownersByAddress(
  ofEmail: ReadonlyMap<string, readonly number[]>,
  addresses: NamedPerson['addresses'],
): (readonly number[])[] {
  return addresses.flatMap((email) => {
    const address = parseEmail(email);
    const owners = address === undefined || isRoleAddress(address) ? undefined : ofEmail.get(address);
    return owners ? [owners] : [];
  });
}

const fieldPatterns = { emails: /email/i, phones: /phone/i } as const;

/** The kinds of results that a body has by the names of its fields; all kinds if it names no known field. */
export function kindsOfFields(delivery: DeliveryKind, fields: readonly string[]): LateKind[] {
  const all = lateKindsBy(delivery);
  const named = all.filter((kind) =>
    fields.some((field) => fieldPatterns[lateKinds[kind].values].test(field)),
  );
  return named.length === 0 ? all : named;
}

const emailRanks = ['verified', 'likely to engage', 'unverified', 'guessed', 'extrapolated'];

/** Rank of an address that bounced or is unavailable, or whose status is unknown. */
export const worstEmailRank = 9;

/**
 * Ranks an address by its status, best first. An address from a waterfall replaces that of the answer if its rank is
 * better. An address of the worst rank never replaces another.
 *
 * @param status as the service states it; without one the address counts as unverified
 */
export function emailRank(status: string | null | undefined): number {
  const rank = emailRanks.indexOf((status ?? 'unverified').toLowerCase().replaceAll('_', ' '));
  return rank < 0 ? worstEmailRank : rank;
}

/** Indexes of items by each of their keys. */
function indexBy<Item, Key>(
  items: readonly Item[],
  keysOf: (item: Item) => readonly Key[],
): Map<Key, number[]> {
  const places = new Map<Key, number[]>();
  for (const [place, item] of items.entries()) {
    for (const key of new Set(keysOf(item))) {
      const known = places.get(key);
      if (known) known.push(place);
      else places.set(key, [place]);
    }
  }
  return places;
}
