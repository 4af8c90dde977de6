import { randomInt } from 'node:crypto';
import { Chance } from '../faults/chance.ts';
import { creditsMember } from '../faults/misstated-credits.ts';
import type { DeliveryRule, Rule } from '../faults/scenario.ts';
import type { DeliveryKind, LatePerson, LateRequest } from './late-parameters.ts';

const mobilePhoneCredits = 8;
/** Price of a record that an invented vendor finds. */
const vendorCredits = 2;

/** What an answer says about late results of a kind, and whether they follow. */
interface Announcement {
  /** JSON text; undefined: the answer does not mention them. */
  readonly member: string | undefined;
  readonly areDelivered: boolean;
}

interface Announcing {
  readonly people: readonly LatePerson[];
  /** An earlier request delivers the results of all these people. */
  readonly areInFlight: boolean;
  readonly fault: Rule;
}

interface Making {
  readonly request: LateRequest;
  readonly fields: readonly string[];
  readonly rule: DeliveryRule;
  readonly seed: number;
}

/** The body of a delivery with its people and its bill. */
export interface MadeBody {
  readonly body: string;
  readonly people: readonly LatePerson[];
  readonly billed: readonly LatePerson[];
  readonly creditsEach: number;
}

interface LateRules {
  readonly announce: (announcing: Announcing) => Announcement;
  readonly bodies: (making: Making) => readonly MadeBody[];
}

/** How each kind of late results is announced and delivered. */
export const lateRules: Readonly<Record<DeliveryKind, LateRules>> = {
  phones: { announce: announcePhones, bodies: phonesBodies },
  waterfall: { announce: announceWaterfall, bodies: waterfallBodies },
};

function announcePhones({ people, areInFlight, fault }: Announcing): Announcement {
  const status = fault.phone_enrichment ?? (areInFlight || people.length === 0 ? 'skipped' : 'pending');
  const isPromised = status === 'pending' || status === 'absent';
  return {
    member:
      status === 'absent'
        ? undefined
        : `"phone_enrichment":{"request_id":${phoneEnrichmentId()},"status":"${status}"}`,
    areDelivered: people.length > 0 && (isPromised || fault.delivers_anyway === true),
  };
}

function announceWaterfall({ fault }: Announcing): Announcement {
  const status = fault.waterfall ?? 'accepted';
  return {
    member:
      status === 'absent'
        ? undefined
        : `"waterfall":{"status":"${status}","message":"results are sent to the webhook"}`,
    areDelivered: status !== 'failed' || fault.delivers_anyway === true,
  };
}

/** Ids of phone enrichment differ from request ids and cannot be polled. */
function phoneEnrichmentId(): string {
  return String(randomInt(2 ** 47)) + String(randomInt(1_000, 9_999));
}

function phonesBodies({ request, rule, seed }: Making): MadeBody[] {
  const asked = rule.split && !rule.missing ? 1 : request.people.length;
  return groupsOf(request, rule).map((people) => {
    const billed = people.filter((person) => person.hasMobile);
    const credits = billed.length * mobilePhoneCredits;
    const body = nativeBody({ people, asked, credits, rule, seed });
    return { body, people, billed, creditsEach: mobilePhoneCredits };
  });
}

function waterfallBodies({ request, fields, rule, seed }: Making): MadeBody[] {
  const { requestId } = request;
  const targets = rule.fields ? fields.map((field) => [field]) : [fields];
  const parts = targets.flatMap((targetFields) =>
    groupsOf(request, rule).map((people) => ({ targetFields, people })),
  );
  return parts.map(({ targetFields, people }, index) => {
    const missing = rule.missing && request.people.length - people.length;
    // The first body also has the cost of the answer, which the answer does not report.
    const credits = (index === 0 ? request.creditsOfAnswer : 0) + people.length * vendorCredits;
    const body = waterfallBody({ people, requestId, targetFields, missing, credits, rule, seed });
    return { body, people, billed: people, creditsEach: vendorCredits };
  });
}

/** The people of each body. */
function groupsOf(request: LateRequest, rule: DeliveryRule): readonly (readonly LatePerson[])[] {
  return rule.split ? request.people.map((person) => [person]) : [request.people];
}

/** The body of revealed phones, which has no request id. */
function nativeBody(result: {
  readonly people: readonly LatePerson[];
  readonly asked: number;
  readonly credits: number;
  readonly rule: DeliveryRule;
  readonly seed: number;
}): string {
  const { people, asked, credits, rule, seed } = result;
  const found = people.filter((person) => phonesOf(person, seed).length > 0).length;
  const members = [
    '"status":"success"',
    `"total_requested_enrichments":${asked}`,
    `"unique_enriched_records":${found}`,
    `"missing_records":${asked - found}`,
    ...creditsMember(credits, rule.credits),
    `"people":[${people
      .map((person) =>
        JSON.stringify({
          ...idMember(person, rule, seed),
          status: 'success',
          phone_numbers: phonesOf(person, seed),
        }),
      )
      .join(',')}]`,
  ];
  return spoiled(`{${members.join(',')}}`, rule);
}

/** The body of a waterfall, with the request's own id. */
function waterfallBody(result: {
  readonly people: readonly LatePerson[];
  readonly requestId: string;
  readonly targetFields: readonly string[];
  /** Value of `missing_records`; undefined: no such member. */
  readonly missing: number | undefined;
  readonly credits: number;
  readonly rule: DeliveryRule;
  readonly seed: number;
}): string {
  const { people, requestId, targetFields, missing, credits, rule, seed } = result;
  const vendors = [{ id: 'vendor-1', name: 'Invented Vendor', status: 'success' }];
  const members = [
    '"status":"success"',
    `"request_id":"${requestId}"`,
    `"target_fields":${JSON.stringify(targetFields)}`,
    `"records_enriched":${people.length}`,
    ...(missing === undefined ? [] : [`"missing_records":${missing}`]),
    ...creditsMember(credits, rule.credits),
    `"people":[${people
      .map((person) =>
        JSON.stringify({
          ...idMember(person, rule, seed),
          ...(targetFields.includes('emails') && {
            emails: person.email === null ? [] : [{ email: person.email, email_status_cd: 'verified' }],
          }),
          ...(targetFields.includes('phone_numbers') && { phone_numbers: phonesOf(person, seed) }),
          waterfall: Object.fromEntries(targetFields.map((field) => [field, [{ vendors }]])),
        }),
      )
      .join(',')}]`,
  ];
  return spoiled(`{${members.join(',')}}`, rule);
}

/**
 * Invented phone numbers from a range for fiction: a mobile number if the person has one, and for some the
 * company's switchboard.
 */
function phonesOf(person: LatePerson, seed: number): Record<string, unknown>[] {
  const chance = new Chance(seed, `phones of ${person.id}`);
  const numbers = [
    ...(person.hasMobile ? [{ type: 'mobile', number: chance.below(100), status: 'valid_number' }] : []),
    ...(chance.share(0.3, 1) ? [{ type: 'work_hq', number: chance.below(100, 2), status: 'no_status' }] : []),
  ];
  return numbers.map(({ type, number, status }, position) => {
    const area = 201 + chance.below(700, 3 + position);
    const line = String(number).padStart(2, '0');
    return {
      raw_number: `(${area}) 555-01${line}`,
      sanitized_number: `+1${area}55501${line}`,
      position,
      type_cd: type,
      status_cd: status,
      confidence_cd: 'high',
      dnc_status_cd: null,
    };
  });
}

function idMember(person: LatePerson, rule: DeliveryRule, seed: number): { readonly id?: string } {
  if (rule.people === 'no-ids') return {};
  if (rule.people === 'foreign') return { id: new Chance(seed, `foreign ${person.id}`).identifier() };
  return { id: rule.people === 'other-ids' ? `w${person.id.slice(1)}` : person.id };
}

/** A body that does not belong to the request of its address. */
export function bodyBeside(
  result: { readonly body: string },
  beside: NonNullable<DeliveryRule['beside']>,
  seed: number,
): string {
  switch (beside) {
    case 'strangers': {
      const id = new Chance(seed, `beside ${result.body.length}`).identifier();
      const phone = { sanitized_number: '+12025550199', type_cd: 'mobile', status_cd: 'valid_number' };
      return JSON.stringify({ credits_consumed: 8, people: [{ id, phone_numbers: [phone] }] });
    }
    case 'nobody':
      return '{"people":[]}';
    case 'absurd-price':
      return result.body.replace(/"credits_consumed":[^,]*/, '"credits_consumed":1000000');
    case 'html':
      return '<html>service unavailable</html>';
  }
}

/** Applies a fault that breaks parsers or databases. */
function spoiled(body: string, { body: fault }: DeliveryRule): string {
  switch (fault) {
    case 'nul':
      return body.replace('"people"', '"note":"a\\u0000b","people"');
    case 'surrogate':
      return body.replace('"people"', '"note":"\\ud800","people"');
    case 'huge-number':
      return body.replace('"people"', '"note":1e400000,"people"');
    case 'not-json':
      return '<html>service unavailable</html>';
    case 'cut':
      return body.slice(0, Math.floor(body.length / 2));
    case 'empty':
      return '';
    case undefined:
      return body;
  }
}
