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

/** What a body says about its people and its request. */
export interface DeliveredBody {
  readonly kind: DeliveryKind;
  readonly people: readonly DeliveredShare[];
  readonly targetFields: readonly string[];
  /** The body has the id of the call's request. */
  readonly bearsRequestId: boolean;
}

/**
 * The part of a call's results that a body delivers: the people and the kinds of results that the body mentions.
 *
 * Results beside the target fields of a body do not count if the body says something about these fields. A body can
 * repeat addresses that another body brings and bills.
 *
 * @returns undefined if no person in the body can be of this call: the body belongs to another call
 */
export function deliveredPart(body: DeliveredBody, call: CallPeople): DeliveredPart | undefined {
  const places = placesOf(call);
  const placeOf = ({ knownId }: DeliveredShare): number | undefined =>
    knownId === undefined ? undefined : places.get(knownId);
  const namesFound = body.people.some((person) => placeOf(person) !== undefined);
  const strangersCount = doStrangersCount(body, call, namesFound);
  const counted = body.people.filter(
    (person) => placeOf(person) !== undefined || (strangersCount && !person.isOther),
  );
  if (counted.length === 0 && body.people.length > 0) return undefined;
  const targets = kindsOfFields(body.kind, body.targetFields);
  const isForTargets = counted.some((person) =>
    coveredKinds(person, body).some((kind) => targets.includes(kind)),
  );
  const covers = new Set<string>();
  const brings = new Set<string>();
  for (const person of counted) {
    const place = placeOf(person) ?? `~${person.alias}`;
    for (const kind of coveredKinds(person, body)) {
      if (isForTargets && !targets.includes(kind)) continue;
      covers.add(`${kind}/${place}`);
      if (hasValues(person, kind)) brings.add(`${kind}/${place}`);
    }
  }
  return { covers: [...covers], brings: [...brings] };
}

/**
 * Whether strangers in a body can be people of the call.
 *
 * @param namesFound the body names a person of the answer
 */
function doStrangersCount(body: DeliveredBody, call: CallPeople, namesFound: boolean): boolean {
  // A stranger can be a found person whom the answer does not list.
  if (call.unlisted > 0) return true;
  // Vendors can bill a search that found no person.
  if (isOfEmptyCall(body, call)) return true;
  // In a waterfall a person of the answer can have another id.
  if (deliveryKinds[body.kind].keepsIds) return false;
  // An address connects the two ids, unless the person was erased.
  if (call.hidden > 0) return true;
  // The body is about this request, and all its people can be people of the answer.
  return body.bearsRequestId && namesFound && body.people.length <= call.ids.length;
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
  const covered = new Set([...covers].filter((entry) => entry.startsWith(`${kind}/`)));
  const strangers = [...covered].filter((entry) => entry.startsWith(`${kind}/~`)).length;
  const places = placesOf(call);
  const found = places.size + call.unlisted;
  // A stranger stands for an unlisted person. Where ids differ, a stranger can be a listed person too.
  const { keepsIds } = deliveryKinds[lateKinds[kind].deliveredBy];
  const asStrangers = Math.min(strangers, keepsIds ? call.unlisted : found);
  const listed = covered.size - strangers;
  const placesOfRows = new Set(call.idsOfRows.flatMap((id) => places.get(id) ?? []));
  const rowsLeft = [...placesOfRows].filter((place) => !covered.has(`${kind}/${place}`)).length;
  return Math.max(0, found - call.surplus - listed - asStrangers, rowsLeft - asStrangers);
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
