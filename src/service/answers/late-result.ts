import { z } from 'zod';
import type { Credits } from '../../domain/money/decimal.ts';
import { parseEmail } from '../../domain/identity/values/email-address.ts';
import { boundedId } from '../../domain/identity/identity-keys.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import type { DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import type { DeliveredPhone } from '../../domain/identity/values/phone.ts';
import { memberSources, readJson } from './exact-json.ts';
import { openEnvelope } from './late-envelope.ts';
import { readCredits, readRequestId, type CreditsProblem } from './exact-values.ts';
import { described, list, map, text, whole } from './schemas/field.ts';

/** The body of a webhook delivery, and the `webhook_result` of a poll. */
export interface LateResult {
  /** `phones`: revealed by the service; `waterfall`: found by other vendors. */
  readonly kind: DeliveryKind;
  /** Exact text. Bodies of the kind `phones` have none. */
  readonly requestId: string | undefined;
  readonly people: readonly DeliveredPerson[];
  /** Number of invalid elements of `people` and of those beyond the limit. */
  readonly unreadablePeople: number;
  /** Undefined: `creditsProblem` has the reason. */
  readonly creditsConsumed: Credits | undefined;
  readonly creditsProblem: CreditsProblem | undefined;
  /** `missing_records`; undefined if missing. */
  readonly missing: number | undefined;
  /** Of a waterfall: `emails`, `phone_numbers`; empty if missing. */
  readonly targetFields: readonly string[];
}

export interface DeliveredPerson {
  readonly id: string | undefined;
  readonly phones: readonly DeliveredPhone[];
  readonly emails: readonly DeliveredEmail[];
  /** Every address of the entry: also one that is no result identifies the person. */
  readonly addresses: readonly string[];
  /** Which of `emails` and `phone_numbers` the body has for this person, empty lists included. */
  readonly fields: readonly string[];
  /** By a status, what is missing is still to come, or the person has phones of which none can be read. */
  readonly isPending: boolean;
}

export interface DeliveredEmail {
  /** Normalised. Invalid addresses and placeholders are left out. */
  readonly email: string;
  readonly status: string | undefined;
}

const phoneDigits = z.int().min(100);
/** A JSON number cannot have the plus sign of a sanitized number. */
const sanitized = described(z.union([z.string(), phoneDigits.transform((digits) => `+${digits}`)]));

/** Deliveries use names with `_cd`; the interface document's phone number has them without. */
const phoneSchema = z.looseObject({
  raw_number: described(z.union([z.string(), phoneDigits.transform(String)])),
  sanitized_number: sanitized,
  position: whole,
  type_cd: text,
  type: text,
  status_cd: text,
  status: text,
  dnc_status_cd: text,
  dnc_status: text,
  confidence_cd: text,
});

const emailSchema = z.looseObject({
  email: z.string(),
  email_status_cd: text,
  email_status: text,
});

const contactSchema = z.looseObject({
  person_id: text,
  email: text,
  phone_numbers: list,
  sanitized_phone: sanitized,
  contact_emails: list,
});

const personSchema = z.looseObject({
  ...contactSchema.shape,
  id: text,
  status: text,
  contact: described(contactSchema),
  emails: list,
  waterfall: map,
});

type WirePerson = z.infer<typeof personSchema>;

const bodySchema = z.looseObject({
  status: text,
  missing_records: whole,
  target_fields: list,
  people: list,
  matches: list,
  person: map,
});

/** The enumeration is open: whatever else a status says, the results are there. */
const pendingStatus = /^(?:accepted|pending|queued|waiting|started|running|processing|in[ _-]?progress)/i;

/** A call asks for ten people; these limits bound the work for a body. */
const mostPeople = 1_000;
const mostOfOnePerson = 100;

/**
 * Reads a late result. Pure. Invalid parts are left out. The interface document shows no body: what is delivered is
 * read wherever its answers, persons and contacts have it, and from a list of people or of one body. A list of several
 * bodies is not read: each has its own price and target fields.
 *
 * @param body decompressed
 * @returns undefined if the body is no JSON or has no people
 */
export function readLateResult(body: Buffer): LateResult | undefined {
  const json = readJson(body);
  return json && readValue(json.value, json.text);
}

/** @param source source text of the value */
function readValue(value: unknown, source: string): LateResult | undefined {
  if (!Array.isArray(value)) {
    const members = memberSources(source);
    return readBody(value, members) ?? readEnvelope(value, members);
  }
  const only = value.length === 1 && readBody(value[0], memberSources(source.trim().slice(1, -1).trim()));
  if (only) return only;
  return isListOfPeople(value) ? readBody({ people: value }, new Map()) : undefined;
}

function readEnvelope(value: unknown, members: ReadonlyMap<string, string>): LateResult | undefined {
  const unwrapped = openEnvelope(value, members, [isBody, isListOfIdentified, isIdentified]);
  return unwrapped && readBody(unwrapped.body, unwrapped.members);
}

function isListOfPeople(value: unknown): value is readonly unknown[] {
  if (!Array.isArray(value)) return false;
  const elements: readonly unknown[] = value.slice(0, mostPeople);
  return elements.some(isPerson) && !elements.some(isBody);
}

/** Whether a list of an envelope has results. A list that only repeats the request may lack ids. */
function isListOfIdentified(value: unknown): boolean {
  return isListOfPeople(value) && value.slice(0, mostPeople).some(isIdentified);
}

/** Whether a value is a person with an id, and phones or addresses. */
function isIdentified(value: unknown): boolean {
  const person = personSchema.safeParse(value).data;
  return Boolean(person && idOf(person) && (numbersOf(person) ?? addressesOf(person)));
}

/** Whether an element of a list is a person: an object with an id, phones or addresses. */
function isPerson(element: unknown): boolean {
  const person = personSchema.safeParse(element).data;
  return Boolean(person && (idOf(person) ?? numbersOf(person) ?? addressesOf(person)));
}

/** Whether an element of a list is a body of its own. */
function isBody(element: unknown): boolean {
  const body = bodySchema.safeParse(element).data;
  return Boolean(body && (body.people ?? body.matches ?? body.person));
}

/** @param members source texts of the body's members */
function readBody(value: unknown, members: ReadonlyMap<string, string>): LateResult | undefined {
  const parsed = bodySchema.safeParse(value).data;
  const listed = parsed && peopleOf(parsed);
  if (!listed) return undefined;
  const { credits, problem } = readCredits(members.get('credits_consumed'));
  const people = listed.slice(0, mostPeople).flatMap((element) => {
    const person = personSchema.safeParse(element).data;
    return person ? [{ person, numbers: numbersOf(person), addresses: addressesOf(person) }] : [];
  });
  const waterfall =
    members.has('target_fields') ||
    members.has('records_enriched') ||
    people.some(({ person, addresses }) => 'waterfall' in person || addresses !== undefined);
  const isPending = (status: string | null | undefined): boolean => pendingStatus.test(status ?? '');
  return {
    kind: waterfall ? 'waterfall' : 'phones',
    requestId: readRequestId(members.get('request_id')),
    people: people.map(({ person, numbers, addresses }) => {
      const phones = (numbers ?? []).slice(0, mostOfOnePerson).flatMap(readPhone);
      const isUnread = phones.length === 0 && numbers !== undefined && numbers.length > 0;
      return {
        id: boundedId(displayForm(idOf(person) ?? '')) || undefined,
        phones,
        emails: readEmails(addresses),
        addresses: everyAddressOf(person),
        fields: [
          ...(addresses || person.waterfall?.['emails'] !== undefined ? ['emails'] : []),
          ...(numbers || person.waterfall?.['phone_numbers'] !== undefined ? ['phone_numbers'] : []),
        ],
        isPending: isUnread || isPending(person.status) || isPending(parsed.status),
      };
    }),
    unreadablePeople: listed.length - people.length,
    creditsConsumed: credits,
    creditsProblem: problem,
    missing: parsed.missing_records ?? undefined,
    targetFields: (parsed.target_fields ?? []).filter((field) => typeof field === 'string'),
  };
}

/** The people of a body: a list, one person, or the body itself if it has phones or addresses. */
function peopleOf(body: z.infer<typeof bodySchema>): readonly unknown[] | undefined {
  const { people, matches, person } = body;
  const listed = people ?? matches ?? (person ? [person] : undefined);
  if (listed) return listed;
  const own = personSchema.safeParse(body).data;
  if (!own || !(numbersOf(own) ?? addressesOf(own))) return undefined;
  // The id of a body with a contact may be that of the delivery.
  return [{ ...own, person_id: own.person_id ?? own.contact?.person_id }];
}

/** The service's id of a person. The id of a saved contact is another. */
function idOf({ person_id: ownId, id, contact }: WirePerson): string | undefined {
  return ownId ?? id ?? contact?.person_id ?? undefined;
}

/** The phones of a person; undefined: the body has none for the person, not even an empty list. */
function numbersOf({ phone_numbers: own, sanitized_phone: number, contact }: WirePerson) {
  return firstFilled([own, contact?.phone_numbers], number ?? contact?.sanitized_phone);
}

/** The addresses of a person. Beside phones only their own list counts: other addresses may be known ones. */
function addressesOf(person: WirePerson) {
  const { emails, contact_emails: own, contact, email } = person;
  return emails || numbersOf(person)
    ? (emails ?? undefined)
    : firstFilled([own, contact?.contact_emails], email && person);
}

function everyAddressOf({ contact, ...person }: WirePerson): string[] {
  const lists = [person.emails, person.contact_emails, contact?.contact_emails];
  const stated = [person.email, contact?.email].filter(Boolean);
  return [stated, ...lists].flatMap((each) => readEmails(each).map(({ email }) => email));
}

/** The first list with elements; else the single value; else an empty list, if there is one. */
function firstFilled(
  lists: readonly (readonly unknown[] | null | undefined)[],
  single: unknown,
): readonly unknown[] | undefined {
  const present = lists.filter((each) => each !== null && each !== undefined);
  return present.find(({ length }) => length > 0) ?? (single ? [single] : present[0]);
}

/** @param element an object as documented, a text with digits, or a number */
function readPhone(element: unknown): DeliveredPhone[] {
  const isNumber =
    typeof element === 'number' || (typeof element === 'string' && /\d{3}/.test(element.replace(/\D/g, '')));
  const phone = phoneSchema.safeParse(isNumber ? { raw_number: element } : element).data;
  if (!phone?.raw_number?.trim() && !phone?.sanitized_number?.trim()) return [];
  return [
    {
      rawNumber: phone.raw_number ?? undefined,
      sanitizedNumber: phone.sanitized_number ?? undefined,
      type: phone.type_cd ?? phone.type ?? undefined,
      status: phone.status_cd ?? phone.status ?? undefined,
      dncStatus: phone.dnc_status_cd ?? phone.dnc_status ?? undefined,
      confidence: phone.confidence_cd ?? undefined,
      position: phone.position ?? undefined,
    },
  ];
}

function readEmails(elements: readonly unknown[] | null | undefined): DeliveredEmail[] {
  return (elements ?? []).slice(0, mostOfOnePerson).flatMap(readEmail);
}

/** @param element an object as documented, or a text */
function readEmail(element: unknown): DeliveredEmail[] {
  const parsed = emailSchema.safeParse(typeof element === 'string' ? { email: element } : element).data;
  const email = parsed && parseEmail(parsed.email);
  if (email === undefined) return [];
  const status = parsed?.email_status_cd ?? parsed?.email_status;
  return [{ email, status: status ? displayForm(status) : undefined }];
}
