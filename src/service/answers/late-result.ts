import { z } from 'zod';
import type { Credits } from '../../domain/money/decimal.ts';
import { parseEmail } from '../../domain/identity/email-address.ts';
import { displayForm } from '../../domain/identity/normalise.ts';
import type { DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import type { DeliveredPhone } from '../../domain/identity/phone.ts';
import { memberSources, readJson } from './exact-json.ts';
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

/** Deliveries use names with `_cd`; the interface document's phone number has them without. */
const phoneSchema = z.looseObject({
  raw_number: text,
  sanitized_number: text,
  position: whole,
  type_cd: text,
  type: text,
  status_cd: text,
  status: text,
  dnc_status_cd: text,
  dnc_status: text,
  confidence_cd: text,
});

const emailSchema = z.looseObject({ email: z.string(), email_status_cd: text, email_status: text });

const personSchema = z.looseObject({
  id: text,
  status: text,
  phone_numbers: list,
  sanitized_phone: text,
  contact: described(z.looseObject({ phone_numbers: list, sanitized_phone: text })),
  emails: list,
  waterfall: map,
});

const bodySchema = z.looseObject({
  status: text,
  missing_records: whole,
  target_fields: list,
  people: z.array(z.unknown()),
});

/** The enumeration is open: whatever else a status says, the results are there. */
const pendingStatus = /^(?:pending|queued|waiting|started|running|processing|in[ _-]?progress)/i;

/** A call asks for ten people; these limits bound the work for a body. */
const mostPeople = 1_000;
const mostOfOnePerson = 100;

/**
 * Reads a late result. Pure. Invalid parts are left out.
 *
 * @param body decompressed
 * @returns undefined if the body is no JSON or has no list of people
 */
export function readLateResult(body: Buffer): LateResult | undefined {
  const json = readJson(body);
  const parsed = json && bodySchema.safeParse(json.value);
  if (!parsed?.success) return undefined;
  const members = memberSources(json!.text);
  const { credits, problem } = readCredits(members.get('credits_consumed'));
  const people = parsed.data.people.slice(0, mostPeople).flatMap((element) => {
    const person = personSchema.safeParse(element);
    return person.success ? [person.data] : [];
  });
  const waterfall =
    members.has('target_fields') ||
    members.has('records_enriched') ||
    people.some((person) => 'waterfall' in person || 'emails' in person);
  const isPending = (status: string | null | undefined): boolean => pendingStatus.test(status ?? '');
  return {
    kind: waterfall ? 'waterfall' : 'phones',
    requestId: readRequestId(members.get('request_id')),
    people: people.map((person) => {
      const numbers = numbersOf(person)?.slice(0, mostOfOnePerson);
      const phones = numbers?.flatMap(readPhone) ?? [];
      const isUnread = phones.length === 0 && numbers !== undefined && numbers.length > 0;
      return {
        id: displayForm(person.id ?? '') || undefined,
        phones,
        emails: (person.emails ?? []).slice(0, mostOfOnePerson).flatMap(readEmail),
        fields: [
          ...(person.emails || person.waterfall?.['emails'] !== undefined ? ['emails'] : []),
          ...(numbers || person.waterfall?.['phone_numbers'] !== undefined ? ['phone_numbers'] : []),
        ],
        isPending: isUnread || isPending(person.status) || isPending(parsed.data.status),
      };
    }),
    unreadablePeople: parsed.data.people.length - people.length,
    creditsConsumed: credits,
    creditsProblem: problem,
    missing: parsed.data.missing_records ?? undefined,
    targetFields: (parsed.data.target_fields ?? []).filter((field) => typeof field === 'string'),
  };
}

/**
 * The phones of a person. The interface document shows no body: they are read wherever its persons and contacts have
 * phones. Undefined: the body has none for the person, not even an empty list.
 */
function numbersOf({
  phone_numbers: own,
  sanitized_phone: number,
  contact,
}: z.infer<typeof personSchema>): readonly unknown[] | undefined {
  const numbers = [own, contact?.phone_numbers].flatMap((each) => (each ? [each] : []));
  const single = number ?? contact?.sanitized_phone;
  return numbers.find(({ length }) => length > 0) ?? (single ? [single] : numbers[0]);
}

/** @param element an object as documented, or a text with digits */
function readPhone(element: unknown): DeliveredPhone[] {
  const isNumber = typeof element === 'string' && /\d{3}/.test(element.replace(/\D/g, ''));
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

function readEmail(element: unknown): DeliveredEmail[] {
  const parsed = emailSchema.safeParse(element).data;
  const email = parsed && parseEmail(parsed.email);
  if (email === undefined) return [];
  const status = parsed?.email_status_cd ?? parsed?.email_status;
  return [{ email, status: status ? displayForm(status) : undefined }];
}
