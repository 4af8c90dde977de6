import { z } from 'zod';
import { wholeCredits, type Credits } from '../../domain/money/decimal.ts';
import { displayForm } from '../../domain/identity/normalise.ts';
import type { DeliveredPhone } from '../../domain/identity/phone.ts';
import { memberSources, readJson } from './exact-json.ts';
import { readCredits, readRequestId, type CreditsProblem, type ReadCredits } from './exact-values.ts';
import { described, list, text, whole } from './schemas/field.ts';

/** What a webhook carries, and a poll returns as `webhook_result`. */
export interface LateResult {
  /** Phones that the service revealed itself, or what other vendors gave. */
  readonly kind: 'phones' | 'waterfall';
  /** Exact text. Native phone bodies have none. */
  readonly requestId: string | undefined;
  readonly people: readonly DeliveredPerson[];
  /** Elements of `people` that are no person as the field notes describe one. */
  readonly unreadablePeople: number;
  /** Undefined: `creditsProblem` says why. */
  readonly creditsConsumed: Credits | undefined;
  readonly creditsProblem: CreditsProblem | undefined;
  /** People whom the body does not name because there is nothing for them: those missing who are not in `people`. */
  readonly unnamedMissing: number;
  /** Of a waterfall: `emails`, `phone_numbers`; empty where the body does not say. */
  readonly targetFields: readonly string[];
}

export interface DeliveredPerson {
  readonly id: string | undefined;
  readonly phones: readonly DeliveredPhone[];
  readonly emails: readonly DeliveredEmail[];
}

export interface DeliveredEmail {
  readonly email: string;
  readonly status: string | undefined;
}

/** Names end in `_cd` in deliveries; the Phone number of the interface document has them without. */
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
  id: described(z.union([z.string(), z.int().transform(String)])),
  phone_numbers: list<unknown>(),
  emails: list<unknown>(),
});

const bodySchema = z.looseObject({
  unique_enriched_records: whole,
  missing_records: whole,
  target_fields: list<unknown>(),
  people: z.array(z.unknown()),
});

/**
 * Reads a late result. Pure.
 *
 * @param body decompressed
 * @returns undefined where it is no late result at all: no JSON, or no list of people
 */
export function readLateResult(body: Buffer): LateResult | undefined {
  const json = readJson(body);
  const parsed = json && bodySchema.safeParse(json.value);
  if (!parsed?.success) return undefined;
  const members = memberSources(json!.text);
  const { credits, problem } = readPrice(members.get('credits_consumed'));
  const elements = parsed.data.people.map((element) => personSchema.safeParse(element));
  const people = elements.flatMap((element) => (element.success ? [element.data] : []));
  const waterfall =
    members.has('target_fields') ||
    members.has('records_enriched') ||
    people.some((person) => 'waterfall' in person || 'emails' in person);
  return {
    kind: waterfall ? 'waterfall' : 'phones',
    requestId: readRequestId(members.get('request_id')),
    people: people.map((person) => ({
      id: person.id ? displayForm(person.id) : undefined,
      phones: (person.phone_numbers ?? []).flatMap(readPhone),
      emails: (person.emails ?? []).flatMap(readEmail),
    })),
    unreadablePeople: elements.length - people.length,
    creditsConsumed: credits,
    creditsProblem: problem,
    unnamedMissing: countUnnamed(parsed.data, people),
    targetFields: (parsed.data.target_fields ?? []).filter((field) => typeof field === 'string'),
  };
}

/**
 * Some services name the people for whom they have nothing, and count them as missing as well: those would be counted twice.
 * Where the body says how many were enriched, whoever it names beyond them is one of the missing; otherwise whoever has
 * nothing is.
 */
function countUnnamed(
  body: z.infer<typeof bodySchema>,
  people: readonly z.infer<typeof personSchema>[],
): number {
  const missing = body.missing_records ?? 0;
  const empty = people.filter((person) => !person.phone_numbers?.length && !person.emails?.length).length;
  const enriched = body.unique_enriched_records;
  const named = typeof enriched === 'number' ? body.people.length - enriched : empty;
  return Math.max(0, missing - Math.max(0, named));
}

/** Beyond any price of any request: a mistake of the service, which no sum of ours must have to hold. */
const mostCredible = wholeCredits(1_000_000_000);

function readPrice(source: string | undefined): ReadCredits {
  const read = readCredits(source);
  return read.credits !== undefined && read.credits > mostCredible
    ? { problem: 'too-fine-or-too-large' }
    : read;
}

function readPhone(element: unknown): DeliveredPhone[] {
  const phone = phoneSchema.safeParse(element).data;
  if (!phone) return [];
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
  const email = emailSchema.safeParse(element).data;
  if (!email) return [];
  const status = email.email_status_cd ?? email.email_status;
  return [{ email: email.email, status: status ? displayForm(status) : undefined }];
}
