import { z } from 'zod';
import { parseEmail } from '../../domain/identity/values/email-address.ts';
import { shortenPersonId } from '../../domain/identity/identity-keys.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import type { DeliveredPhone } from '../../domain/identity/values/phone.ts';
import { findCodeEndingWith, type Endpoint } from '../failures/failure.ts';
import { mapFailure, readAnswer } from '../failures/map-failure.ts';
import { readRateHeaders, type RateWindow } from '../rate-headers.ts';
import type { HttpAnswer } from '../transport.ts';
import {
  lenient,
  lenientList,
  lenientObject,
  readCredits,
  readJson,
  readRequestId,
  lenientText,
  lenientInteger,
} from './exact-json.ts';

/** A parsed late result: the payload of a webhook, or the `webhook_result` of a poll. */
export type LateResult = NonNullable<ReturnType<typeof readLateResult>>;

export type DeliveredPerson = ReturnType<typeof deliveredPerson>;

/** A phone number. Deliveries use names with `_cd`; the interface document's phone number has the names without. */
const phoneSchema = z.looseObject({
  raw_number: lenientText,
  sanitized_number: lenientText,
  position: lenientInteger,
  type_cd: lenientText,
  type: lenientText,
  status_cd: lenientText,
  status: lenientText,
  dnc_status_cd: lenientText,
  dnc_status: lenientText,
  confidence_cd: lenientText,
});

const emailSchema = z.looseObject({
  email: z.string(),
  email_status_cd: lenientText,
  email_status: lenientText,
});

const personSchema = z.looseObject({
  id: lenientText,
  email: lenientText,
  status: lenientText,
  phone_numbers: lenientList,
  emails: lenientList,
  waterfall: lenientObject,
});

const bodySchema = z.looseObject({
  status: lenientText,
  missing_records: lenientInteger,
  credits_consumed: z.unknown().optional(),
  target_fields: lenientList,
  records_enriched: z.unknown().optional(),
  people: z.custom<readonly unknown[]>(Array.isArray),
});

/** Pattern of statuses of pending results. With any other status the results are complete. */
const pendingStatus = /^(?:accepted|pending|queued|waiting|started|running|processing|in[ _-]?progress)/i;

/** Maximum number of people that are read from a payload. A call is for ten people, and the limit bounds the work. */
const maxPeople = 1_000;
/** Maximum number of phones, and of e-mails, that are read for a person. */
const maxOfOnePerson = 100;

/**
 * Reads a late result without invalid parts. The interface document shows no payload, but similar services send a list
 * of people. Undefined for any other payload, which is quarantined. Pure.
 */
export function readLateResult(body: Buffer) {
  const value = readJson(body);
  const parsed = bodySchema.safeParse(value).data;
  if (!parsed) return undefined;
  const { credits, problem } = readCredits(parsed.credits_consumed);
  const people = parsed.people
    .slice(0, maxPeople)
    .map((element) => personSchema.safeParse(element).data)
    .filter((person) => person !== undefined);
  const isWaterfall =
    'target_fields' in parsed ||
    'records_enriched' in parsed ||
    people.some((person) => 'waterfall' in person || person.emails);
  return {
    /** `phones` are revealed by the service itself; `waterfall` results come from other vendors. */
    kind: isWaterfall ? ('waterfall' as const) : ('phones' as const),
    /** Id of the request as exact text. Payloads of kind `phones` have none. */
    requestId: readRequestId(value),
    people: people.map((person) => deliveredPerson(person, parsed.status)),
    /** Number of invalid elements of `people`, and of elements beyond the limit. */
    unreadablePeople: parsed.people.length - people.length,
    creditsConsumed: credits,
    creditsProblem: problem,
    missing: parsed.missing_records ?? undefined,
    /** Requested fields of a waterfall: `emails`, `phone_numbers`; empty if missing. */
    targetFields: (parsed.target_fields ?? []).filter((field) => typeof field === 'string'),
  };
}

/** Reads an entry of `people`. @param bodyStatus status of the whole payload */
function deliveredPerson(
  { id, email, status, phone_numbers: numbers, emails: listed, waterfall }: z.infer<typeof personSchema>,
  bodyStatus: string | null | undefined,
) {
  const phones = (numbers ?? []).slice(0, maxOfOnePerson).flatMap(readPhone);
  const emails = (listed ?? []).slice(0, maxOfOnePerson).flatMap(readEmail);
  const isUnread = phones.length === 0 && (numbers ?? []).length > 0;
  return {
    id: shortenPersonId(displayForm(id ?? '')) || undefined,
    phones,
    emails,
    /** Every e-mail of the entry, even if it is not a result, because it identifies the person. */
    addresses: [...readEmail({ email }), ...emails].map((each) => each.email),
    /** Names of the lists `emails` and `phone_numbers` that the payload has for this person, even if empty. */
    fields: [
      ...(listed || waterfall?.['emails'] !== undefined ? ['emails'] : []),
      ...(numbers || waterfall?.['phone_numbers'] !== undefined ? ['phone_numbers'] : []),
    ],
    /** True if more results will follow by the stated status, or if no phone of the person can be read. */
    isPending: isUnread || [status, bodyStatus].some((each) => pendingStatus.test(each ?? '')),
  };
}

/** Reads a phone; none without a number. Names with `_cd` come first. */
function readPhone(element: unknown): DeliveredPhone[] {
  const phone = phoneSchema.safeParse(element).data;
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

/** Returns the normalised e-mail of an entry. Invalid e-mails and placeholders are left out. */
function readEmail(element: unknown) {
  const parsed = emailSchema.safeParse(element).data;
  const email = parsed && parseEmail(parsed.email);
  if (email === undefined) return [];
  const status = parsed?.email_status_cd ?? parsed?.email_status;
  return [{ email, status: status ? displayForm(status) : undefined }];
}

/** The state of the late results of a request, and the rate windows of polls. */
export type PollAnswer = PollState & { readonly rateLimits: readonly RateWindow[] };

type PollState =
  | { readonly state: 'pending'; readonly retryAfterSeconds: number | undefined }
  | { readonly state: 'result'; readonly body: Buffer; readonly deliveryStatus: string | undefined }
  /** The request has ended without a result. */
  | { readonly state: 'no-result'; readonly deliveryStatus: 'failed' | 'success' }
  /** The service will never have a result, because the id is unknown, invalid or older than 30 days. */
  | { readonly state: 'gone'; readonly code: string };

const pollSchema = z.looseObject({ webhook_status: lenientText, webhook_result: lenient(z.unknown()) });

/**
 * Reads the answer of a poll. The payload decides: `webhook_status` only describes the delivery, which can fail
 * although the result is complete. Pure.
 *
 * @throws ServiceFailure for a refusal that does not concern the request: credential, rate, server error
 */
export function readPollAnswer(answer: HttpAnswer, endpoint: Endpoint): PollAnswer {
  if (answer.status >= 400) return readPollRefusal(answer, endpoint);
  const { data } = readAnswer(answer, endpoint, pollSchema);
  const deliveryStatus = data.webhook_status ?? undefined;
  const rateLimits = readRateHeaders(answer.headers);
  if (data.webhook_result !== undefined && data.webhook_result !== null) {
    const body = Buffer.from(JSON.stringify(data.webhook_result));
    return { state: 'result', body, deliveryStatus, rateLimits };
  }
  return deliveryStatus === 'failed' || deliveryStatus === 'success'
    ? { state: 'no-result', deliveryStatus, rateLimits }
    : { state: 'pending', retryAfterSeconds: undefined, rateLimits };
}

/** Reads a refused poll as `pending` or `gone`. @throws ServiceFailure if the refusal is about something else */
function readPollRefusal(answer: HttpAnswer, endpoint: Endpoint): PollAnswer {
  const failure = mapFailure(answer, endpoint);
  const { codes, retryAfterSeconds, rateLimits } = failure;
  if (findCodeEndingWith(codes, 'RESULT_PENDING')) return { state: 'pending', retryAfterSeconds, rateLimits };
  const gone = findCodeEndingWith(codes, 'REQUEST_ID_UNKNOWN', 'REQUEST_ID_EXPIRED', 'INVALID_REQUEST_ID');
  if (gone !== undefined) return { state: 'gone', code: gone, rateLimits };
  // Status 410 alone shows that the result is gone.
  if (answer.status === 410) return { state: 'gone', code: 'request_id_expired', rateLimits };
  throw failure;
}
