import {
  deliveryKindNames,
  deliveryKinds,
  lateKinds,
  lateKindsBy,
  type DeliveryKind,
  type LateKind,
} from './delivery-kinds.ts';
import { kindsOfFields } from './late-assignment.ts';

/** The people of a call, as far as its answer tells. */
export interface CallPeople {
  /** Ids at the service, or their replacements after an erasure, by their position in the answer. */
  readonly ids: readonly string[];
  /** How many of them are replacements. An address no longer connects such a person with another id. */
  readonly hidden: number;
  /** People who were found and whom the answer does not list. */
  readonly unlisted: number;
}

/** A person in a body, as far as money is concerned. */
export interface DeliveredShare {
  /** Their id in the list of the answer, by id or by the address that identified them; undefined for a stranger. */
  readonly knownId: string | undefined;
  /** Tells strangers of one call apart. */
  readonly alias: string;
  readonly hasPhones: boolean;
  readonly hasEmails: boolean;
  /** Fields that the body has for the person, empty lists included. */
  readonly fields: readonly string[];
  /** The body says that the person's results are still being looked for: an empty list is no result. */
  readonly isPending: boolean;
}

/** The results that a body is about. An entry is a kind of result and a person: `phone/0`, `waterfall_email/~3f2a`. */
export interface DeliveredPart {
  /** What the body speaks of, also where it has found nothing. */
  readonly covers: readonly string[];
  /** What the body has values for. */
  readonly brings: readonly string[];
}

/**
 * The part of a call's results that a body delivers: the people and kinds it speaks of, and no others.
 *
 * Strangers count where the answer left people unlisted, who can be these. In a waterfall, whose ids may differ, they
 * also count where a person of the answer was erased, and where the body bears the id of this request, has a person of
 * this call, and names no more people than were found.
 *
 * @param body.kind which of both kinds of bodies it is
 * @returns undefined where no person in the body can be of this call: it belongs to another one
 */
export function deliveredPart(
  body: {
    readonly kind: DeliveryKind;
    readonly people: readonly DeliveredShare[];
    readonly targetFields: readonly string[];
    readonly bearsRequestId: boolean;
  },
  call: CallPeople,
): DeliveredPart | undefined {
  const places = placesOf(call);
  const isKnown = ({ knownId }: DeliveredShare): boolean => knownId !== undefined && places.has(knownId);
  const strangersCount =
    call.unlisted > 0 ||
    (!deliveryKinds[body.kind].keepsIds &&
      (call.hidden > 0 ||
        (body.bearsRequestId &&
          body.people.some(isKnown) &&
          body.people.length <= call.ids.length + call.unlisted)));
  const counted = body.people.filter((person) => isKnown(person) || strangersCount);
  if (counted.length === 0 && body.people.length > 0) return undefined;
  const covers = new Set<string>();
  const brings = new Set<string>();
  for (const person of counted) {
    const place = isKnown(person) ? places.get(person.knownId!) : `~${person.alias}`;
    for (const kind of spokenKinds(person, body)) {
      covers.add(`${kind}/${place}`);
      if (hasValues(person, kind)) brings.add(`${kind}/${place}`);
    }
  }
  return { covers: [...covers], brings: [...brings] };
}

/** How many people of a call no body has spoken of yet, as to one kind of result. @param covers of all its bodies */
export function countUncovered(kind: LateKind, call: CallPeople, covers: Iterable<string>): number {
  const ofKind = [...new Set(covers)].filter((entry) => entry.startsWith(`${kind}/`));
  const strangers = ofKind.filter((entry) => entry.startsWith(`${kind}/~`)).length;
  const all = placesOf(call).size + call.unlisted;
  // Without the ids of the answer, a stranger can be a listed person.
  const { keepsIds } = deliveryKinds[lateKinds[kind].deliveredBy];
  const counted = ofKind.length - strangers + Math.min(strangers, keepsIds ? call.unlisted : all);
  return Math.max(0, all - counted);
}

/** Whether bodies state the price of the whole request. @param covers of all of them */
export function haveWholePrice(covers: readonly string[]): boolean {
  const kinds = deliveryKindNames.filter((kind) => deliveryKinds[kind].hasWholePrice).flatMap(lateKindsBy);
  return covers.some((entry) => kinds.some((kind) => entry.startsWith(`${kind}/`)));
}

/** The first position of each id: the answer can list a person twice. */
function placesOf({ ids }: CallPeople): Map<string, number> {
  const places = new Map<string, number>();
  for (const [place, id] of ids.entries()) if (!places.has(id)) places.set(id, place);
  return places;
}

/**
 * The kinds of results that a body has for a person: a field with values, and an empty one unless the body names its
 * target fields and not this one, or the person is pending.
 */
export function spokenKinds(
  person: DeliveredShare,
  body: { readonly kind: DeliveryKind; readonly targetFields: readonly string[] },
): LateKind[] {
  const isSpoken = (kind: LateKind): boolean => !person.isPending || hasValues(person, kind);
  const targets = kindsOfFields(body.kind, body.targetFields);
  if (person.fields.length === 0) return targets.filter(isSpoken);
  return kindsOfFields(body.kind, person.fields).filter(
    (kind) => hasValues(person, kind) || (targets.includes(kind) && !person.isPending),
  );
}

function hasValues(person: DeliveredShare, kind: LateKind): boolean {
  return lateKinds[kind].values === 'emails' ? person.hasEmails : person.hasPhones;
}
