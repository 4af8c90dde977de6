import {
  deliveryKindNames,
  deliveryKinds,
  lateKinds,
  lateKindsBy,
  type DeliveryKind,
  type LateKind,
  type LateValues,
} from './delivery-kinds.ts';
import { kindsOfFields } from './late-assignment.ts';

/** The people whom a call has found, by its answer. */
export interface CallPeople {
  /** Ids at the service, or their replacements after an erasure, by their position in the answer. */
  readonly ids: readonly string[];
  /** Number of replaced ids. An address no longer connects such a person with another id. */
  readonly hidden: number;
  /** Number of found people whom the answer does not list. */
  readonly unlisted: number;
  /** Number of listed people beyond those whom the service found or the call asked for. No results come for so many. */
  readonly surplus: number;
  /** Ids of people with a row. The surplus is among the other people. */
  readonly idsOfRows: readonly string[];
}

/** A person in a body, as the bill of the call needs it. */
export interface DeliveredShare {
  /** The person's id in the list of the answer, found by id or by address; undefined for a stranger. */
  readonly knownId: string | undefined;
  /** Distinguishes strangers of one call. */
  readonly alias: string;
  /** A person of another call, whom this call did not ask for. */
  readonly isOther: boolean;
  readonly hasPhones: boolean;
  readonly hasEmails: boolean;
  /** Fields that the body has for the person, empty lists included. */
  readonly fields: readonly string[];
  /** Results are still to come, or cannot be read: only values are a result. */
  readonly isPending: boolean;
}

/** The results that a body is about. An entry is a kind of result and a person: `phone/0`, `waterfall_email/~3f2a`. */
export interface DeliveredPart {
  /** Results that the body mentions, also without values. */
  readonly covers: readonly string[];
  /** Results that the body has values for. */
  readonly brings: readonly string[];
}

/**
 * The part of a call's results that a body delivers: the people and the kinds of results that the body mentions.
 *
 * Strangers count if the answer does not list all found people, because a stranger can be one of these. In a waterfall,
 * whose ids may differ, strangers also count if a person of the answer was erased, and if the body has the id of this
 * request, has a person of this call, and names no more people than the call has found. If the call has found no
 * person, strangers count in every body with the id of this request: vendors can bill a search all the same.
 *
 * Results beside the target fields of a body do not count if the body says something about these fields. A body can
 * repeat addresses that another body brings and bills.
 *
 * @returns undefined if no person in the body can be of this call: the body belongs to another call
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
    isOfEmptyCall(body, call) ||
    (!deliveryKinds[body.kind].keepsIds &&
      (call.hidden > 0 ||
        (body.bearsRequestId &&
          body.people.some(isKnown) &&
          body.people.length <= call.ids.length + call.unlisted)));
  const counted = body.people.filter((person) => isKnown(person) || (strangersCount && !person.isOther));
  if (counted.length === 0 && body.people.length > 0) return undefined;
  const targets = kindsOfFields(body.kind, body.targetFields);
  const isForTargets = counted.some((person) =>
    coveredKinds(person, body).some((kind) => targets.includes(kind)),
  );
  const covers = new Set<string>();
  const brings = new Set<string>();
  for (const person of counted) {
    const place = isKnown(person) ? places.get(person.knownId!) : `~${person.alias}`;
    for (const kind of coveredKinds(person, body)) {
      if (isForTargets && !targets.includes(kind)) continue;
      covers.add(`${kind}/${place}`);
      if (hasValues(person, kind)) brings.add(`${kind}/${place}`);
    }
  }
  return { covers: [...covers], brings: [...brings] };
}

/** Whether a body has the id of a request that has found no person. So no person can show that it is about the call. */
export function isOfEmptyCall(
  { bearsRequestId }: { readonly bearsRequestId: boolean },
  { ids, unlisted }: CallPeople,
): boolean {
  return bearsRequestId && ids.length === 0 && unlisted === 0;
}

/** Number of people of a call whom no body mentions yet for a kind of result. @param covers of all bodies */
export function countUncovered(kind: LateKind, call: CallPeople, covers: Iterable<string>): number {
  const ofKind = new Set([...covers].filter((entry) => entry.startsWith(`${kind}/`)));
  const strangers = [...ofKind].filter((entry) => entry.startsWith(`${kind}/~`)).length;
  const places = placesOf(call);
  const all = places.size + call.unlisted;
  // Without the ids of the answer, a stranger can be a listed person.
  const { keepsIds } = deliveryKinds[lateKinds[kind].deliveredBy];
  const counted = Math.min(strangers, keepsIds ? call.unlisted : all);
  const withRows = new Set(call.idsOfRows.flatMap((id) => places.get(id) ?? []));
  const rowsLeft = [...withRows].filter((place) => !ofKind.has(`${kind}/${place}`)).length;
  return Math.max(0, all - call.surplus - (ofKind.size - strangers) - counted, rowsLeft - counted);
}

/** Whether bodies state the price of the whole request. @param covers of all bodies */
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
 * The kinds of results for which a body covers a person: every field with values. An empty field counts too, unless the
 * person is pending or the body names other target fields.
 */
export function coveredKinds(
  person: DeliveredShare,
  body: { readonly kind: DeliveryKind; readonly targetFields: readonly string[] },
): LateKind[] {
  const isCovered = (kind: LateKind): boolean => !person.isPending || hasValues(person, kind);
  const targets = kindsOfFields(body.kind, body.targetFields);
  if (person.fields.length === 0) return targets.filter(isCovered);
  return kindsOfFields(body.kind, person.fields).filter(
    (kind) => hasValues(person, kind) || (targets.includes(kind) && !person.isPending),
  );
}

function hasValues(person: DeliveredShare, kind: LateKind): boolean {
  const has: Readonly<Record<LateValues, boolean>> = { emails: person.hasEmails, phones: person.hasPhones };
  return has[lateKinds[kind].values];
}
