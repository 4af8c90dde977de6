import { z } from 'zod';
import type { Organization, Person } from '../../domain/identity/person.ts';
import { shortenPersonId } from '../../domain/identity/identity-keys.ts';
import { splitList } from '../../domain/text/format.ts';
import {
  lenientCount,
  lenient,
  isJsonObject,
  readCredits,
  lenientText,
  tidyJsonValue,
  lenientInteger,
  type JsonObject,
} from './exact-json.ts';
import { readAnswer, mapFailure } from '../failures/map-failure.ts';
import type { Endpoint } from '../failures/failure.ts';
import { readRateHeaders } from '../rate-headers.ts';
import type { HttpAnswer } from '../transport.ts';

/**
 * Type of a member, as in the tables of the interface document. Any member may be null or missing. A member of the
 * wrong type counts as missing, so that a paid person is not lost. Only identifying members are strict: ignoring them
 * could assign data to the wrong person. `any` is always null in practice, so its type is unknown.
 */
type Type = 'id' | 'identifying' | 'text' | 'number' | 'whole' | 'flag' | 'list' | 'texts' | 'map' | 'any';

/** The documented members of an object. Other members remain only in the raw body. */
interface Shape {
  readonly [member: string]: Type | Shape | readonly [Shape];
}

/** Returns one type for each of several members. @param names names, as listed in the interface document */
function each<const List extends string, const Each extends Type>(names: List, type: Each) {
  return Object.fromEntries(splitList(names).map((name) => [name, type])) as Record<Names<List>, Each>;
}

type Names<List extends string> = List extends `${infer Name}, ${infer Rest}` ? Name | Names<Rest> : List;

const employment = {
  ...each('_id, id, key, title, organization_name, organization_id, start_date, end_date', 'text'),
  current: 'flag',
  ...each(
    'created_at, updated_at, degree, description, emails, grade_level, kind, major, raw_address',
    'any',
  ),
} as const satisfies Shape;

const contactEmail = {
  ...each('email, email_md5, email_sha256, email_status', 'text'),
  position: 'whole',
  free_domain: 'flag',
  ...each('email_source, email_from_customer', 'any'),
  extrapolated_email_confidence: 'number',
} as const satisfies Shape;

/** A person that the team has saved. */
const contact = {
  ...each('id, person_id, account_id, organization_id, creator_id, contact_stage_id', 'text'),
  ...each('first_name, last_name, name, title, headline, organization_name, email, email_status', 'text'),
  ...each('email_true_status, present_raw_address, sanitized_phone, proflink_url, source', 'text'),
  ...each('original_source, source_display_name, existence_level, time_zone', 'text'),
  ...each('created_at, updated_at', 'text'),
  ...each('has_pending_email_arcgate_request, has_email_arcgate_request, email_from_customer', 'flag'),
  ...each('updated_email_true_status, free_domain, is_likely_to_engage', 'flag'),
  ...each('contact_roles, emailer_campaign_ids, label_ids, contact_rule_config_statuses', 'list'),
  typed_custom_fields: 'map',
  contact_emails: [contactEmail],
  phone_numbers: 'list',
  extrapolated_email_confidence: 'number',
  ...each('owner_id, email_needs_tickling, photo_url, proflink_uid, crmx_id, crmx_lead_id', 'any'),
  ...each('crmx_contact_id, crmx_account_id, crm_owner_id, direct_dial_status, email_source', 'any'),
  ...each('direct_dial_enrichment_failed_at, last_activity_date, crmy_vid, crmy_company_id, crm_id', 'any'),
  ...each('merged_crm_ids, queued_for_crm_push, suggested_from_rule_engine_config_id', 'any'),
  ...each('email_unsubscribed, custom_field_errors, crm_record_url, account_phone_note', 'any'),
  email_status_unavailable_reason: 'any',
} as const satisfies Shape;

const company = {
  ...each('id, name, website_url, proflink_url, microblog_url, socialnet_url, logo_url', 'text'),
  ...each('primary_domain, proflink_uid', 'text'),
  ...each('blog_url, startupnet_url, companydb_url, publicly_traded_symbol, publicly_traded_exchange', 'any'),
  primary_phone: 'map',
  languages: 'list',
  ...each('traffic_ranking, founded_year', 'number'),
} as const satisfies Shape;

/** Shape of a company. Companies are nine tenths of the bytes of a person. */
const organization = {
  ...company,
  ...each('phone, owned_by_organization_id', 'any'),
  ...each('secondary_industries, suborganizations', 'list'),
  ...each('estimated_num_employees, retail_location_count, num_suborganizations', 'number'),
  ...each('annual_revenue, total_funding', 'number'),
  ...each('annual_revenue_printed, total_funding_printed, industry, industry_tag_id', 'text'),
  ...each('industries, keywords, technology_names, org_chart_root_people_ids', 'list'),
  industry_tag_hash: 'map',
  ...each('snippets_loaded, org_chart_removed, org_chart_show_department_filter', 'flag'),
  ...each('raw_address, street_address, city, state, postal_code, country', 'text'),
  ...each('seo_description, short_description, latest_funding_round_date, latest_funding_stage', 'text'),
  ...each('funding_events, current_technologies', 'list'),
  org_chart_sector: 'text',
} as const satisfies Shape & Record<keyof Organization, unknown>;

/** A company that the team has saved. Answers to bulk calls contain saved companies. */
const account = {
  ...company,
  ...each('domain, team_id, organization_id, source, original_source, created_at', 'text'),
  ...each('phone, phone_status, sanitized_phone, existence_level, modality, source_display_name', 'text'),
  ...each('crmx_id, crmx_record_url, crm_record_url, crm_owner_id, owner_id', 'text'),
  ...each('account_stage_id, creator_id, crmy_id, parent_account_id, custom_field_errors', 'any'),
  typed_custom_fields: 'map',
  ...each('label_ids, account_playbook_statuses, account_rule_config_statuses', 'list'),
} as const satisfies Shape;

/** Shape of `person` in single answers, and of each element of `matches` in bulk answers. */
const personShape = {
  id: 'id',
  ...each('first_name, last_name, name, proflink_url, email', 'identifying'),
  ...each('title, headline, email_status, photo_url, microblog_url, codehost_url, socialnet_url', 'text'),
  // The interface document describes only the parameter, so the member's name is assumed.
  personal_emails: 'texts',
  extrapolated_email_confidence: 'number',
  // Former employers can only support a match, never contradict it, so they are not strict.
  employment_history: [employment],
  ...each('organization_id, state, city, country, contact_id, account_id, seniority', 'text'),
  contact,
  organization,
  account,
  ...each('revealed_for_current_team, is_likely_to_engage, show_intent', 'flag'),
  intent_strength: 'any',
  ...each('departments, subdepartments, functions', 'texts'),
} as const satisfies Shape & Record<keyof Omit<Person, 'isPartlyRead'>, unknown>;

type PersonOfAnswer =
  | {
      /** Documented members that have a value, ready for jsonb. */
      readonly person: Person;
      /** Names of members that were left out because of their types, such as `contact.email`. */
      readonly unread: ReadonlySet<string>;
    }
  /** The invalid member and its expected type, without the value. */
  | { readonly unreadable: string };

/** Reads a person. Wrong types make identifying members an error, and any other member missing. */
export function readPerson(element: unknown): PersonOfAnswer {
  if (!isJsonObject(element)) return { unreadable: 'the element is no object' };
  for (const member of identifyingMembers) {
    const value = element[member];
    if (value !== undefined && value !== null && typeof value !== 'string')
      return { unreadable: `${member} is no string` };
  }
  const unread = new Set<string>();
  return { person: readMembers(element, personShape, '', unread), unread };
}

const identifyingMembers = Object.entries<Shape[string]>(personShape).flatMap(([member, type]) =>
  type === 'id' || type === 'identifying' ? [member] : [],
);

/** Reads the members of a shape. Those with a value of a wrong type are added to `unread`. */
function readMembers(value: JsonObject, shape: Shape, prefix: string, unread: Set<string>): JsonObject {
  const read: Record<string, unknown> = {};
  for (const member in shape) {
    const stated = value[member];
    if (stated === undefined || stated === null) continue;
    const name = prefix + member;
    const taken = readMember(stated, shape[member]!, name, unread);
    if (taken !== undefined) read[member] = taken;
    else if (!saysNothing(stated)) unread.add(name);
  }
  return read;
}

/** Reads a value of a type. Undefined if it has another type, or is empty. */
function readMember(value: unknown, type: Shape[string], name: string, unread: Set<string>): unknown {
  switch (type) {
    case 'id':
      return shortenPersonId(String(value));
    case 'identifying':
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'number':
      return numberOf(value);
    case 'whole':
      return Number.isInteger(numberOf(value)) ? numberOf(value) : undefined;
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'list':
      return Array.isArray(value) ? tidyJsonValue(value) : undefined;
    case 'texts':
      return elementsOf(value, name, unread, (element) =>
        typeof element === 'string' ? element : undefined,
      );
    case 'map':
      return isJsonObject(value) ? tidyJsonValue(value) : undefined;
    case 'any':
      return tidyJsonValue(value);
  }
  if (!Array.isArray(type))
    return isJsonObject(value) ? readMembers(value, type as Shape, `${name}.`, unread) : undefined;
  return elementsOf(value, name, unread, (element) =>
    isJsonObject(element) ? readMembers(element, type[0] as Shape, `${name}.`, unread) : undefined,
  );
}

/** Returns the elements of a list that can be read. If some cannot, the list is added to `unread`. */
function elementsOf(
  value: unknown,
  name: string,
  unread: Set<string>,
  read: (element: unknown) => unknown,
): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const elements = value.map(read).filter((element) => element !== undefined);
  if (elements.length < value.length) unread.add(name);
  return elements;
}

/** Pattern of a number in text with at most 15 digits, which a float can represent exactly. */
const numeric = /^-?(?=(?:\d\.?){1,15}$)\d+(?:\.\d+)?$/;

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'string') return numeric.test(value) ? Number(value) : undefined;
  return typeof value === 'number' ? (tidyJsonValue(value) as number | undefined) : undefined;
}

/** True if a value is empty. Some services write an empty value of another type instead of null. */
function saysNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === false;
}

export type BulkAnswer = ReturnType<typeof readBulkAnswer>;

/** Status of late results, in any wording. Other members are dropped: JSON.parse has rounded their ids. */
const laterResults = lenient(z.object({ status: z.string().max(100), message: lenientText }));

const envelopeSchema = z.looseObject({
  total_requested_enrichments: lenientInteger,
  unique_enriched_records: lenientCount,
  missing_records: lenientCount,
  credits_consumed: z.unknown().optional(),
  matches: z.custom<readonly unknown[]>(Array.isArray).nullish(),
  phone_enrichment: laterResults,
  waterfall: laterResults,
});

/** True if an answer without a list states that no person was found or that the search continues. */
function saysNobody(data: z.output<typeof envelopeSchema>): boolean {
  const { missing_records: missing, total_requested_enrichments: asked } = data;
  return (
    !data.unique_enriched_records &&
    missing !== 0 &&
    (missing ?? asked) === (asked ?? missing) &&
    data.phone_enrichment?.status !== 'pending'
  );
}

/**
 * Reads the answer of a bulk call. An invalid person does not invalidate the other nine, who are paid for. An answer
 * without `matches` is valid only if it states that nothing was billed and nobody enriched. Pure.
 *
 * @throws ServiceFailure for a status other than success, and for an invalid success
 */
export function readBulkAnswer(answer: HttpAnswer, endpoint: Endpoint) {
  const { data, requestId, partial } = readAnswer(answer, endpoint, envelopeSchema);
  const { credits, problem } = readCredits(data.credits_consumed);
  const elements = data.matches ?? (credits === 0n && saysNobody(data) ? [] : undefined);
  if (!elements) throw mapFailure(answer, endpoint);
  return {
    httpStatus: answer.status,
    /** Id of the request: exact text of a signed 64-bit number; undefined if missing. */
    requestId,
    ...readMatches(elements),
    /** True if the service did not process everyone. Later calls can be made for people who were not found. */
    partial,
    /** Billed credits. Undefined if the price cannot be read (see `creditsProblem`); then the reservation stays. */
    creditsConsumed: credits,
    creditsProblem: problem,
    uniqueEnrichedRecords: data.unique_enriched_records ?? undefined,
    missingRecords: data.missing_records ?? undefined,
    /** Status `pending`, or `skipped` if an earlier request delivers the phones and this request cannot be polled. */
    phoneEnrichment: data.phone_enrichment ?? undefined,
    /** Status `accepted` or `partial_accepted`. After any other status no delivery follows. */
    waterfall: data.waterfall ?? undefined,
    rateLimits: readRateHeaders(answer.headers),
    raw: answer.body,
  };
}

/** Fields that can contradict a row; former employers cannot. Without one of them, a person is only partly read. */
const contradicting = new Set([
  'personal_emails',
  'organization',
  'organization.name',
  'organization.website_url',
  'organization.primary_domain',
  'contact',
  'contact.organization_name',
  'contact.email',
  'contact.contact_emails',
  'contact.contact_emails.email',
]);

/** Maximum number of matches that are read, because the work grows with the square of the number. */
const maxMatches = 100;

/** Reads at most `maxMatches` people, in the order of the answer. */
function readMatches(all: readonly unknown[]) {
  const unreadableMatches: { readonly index: number; readonly reason: string }[] = [];
  const unread = new Set<string>();
  const elements = all.slice(0, maxMatches);
  const isCut = elements.length < all.length;
  const matches: readonly (Person | null)[] = elements.map((element, index) => {
    if (element === null) return null;
    const read = readPerson(element);
    if ('unreadable' in read) {
      unreadableMatches.push({ index, reason: read.unreadable });
      return null;
    }
    for (const name of read.unread) unread.add(name);
    const isPartlyRead = isCut || [...read.unread].some((name) => contradicting.has(name));
    return isPartlyRead ? { ...read.person, isPartlyRead } : read.person;
  });
  if (isCut)
    unreadableMatches.push({
      index: maxMatches,
      reason: `the answer has ${all.length} elements, of which ${maxMatches} are read`,
    });
  return {
    /**
     * People in the order of the answer, which can differ from `details` in order and length. Null: nobody was found,
     * or the element is in `unreadableMatches`.
     */
    matches,
    /** Elements that are not valid people, and one entry for all beyond the limit. The service may bill them. */
    unreadableMatches,
    /** Names of fields that were left out of people because of an unexpected type, such as `contact.email`. */
    unreadFields: [...unread],
  };
}

export type MatchAnswer = ReturnType<typeof readMatchAnswer>;

const matchSchema = z.looseObject({
  person: z.unknown().optional(),
  waterfall: laterResults,
  credits_consumed: z.unknown().optional(),
});

/** Reads the answer of a single call. Pure. @throws ServiceFailure, even for an invalid person */
export function readMatchAnswer(answer: HttpAnswer, endpoint: Endpoint) {
  const { data, requestId } = readAnswer(answer, endpoint, matchSchema);
  const read = readPerson(data.person ?? {});
  if ('unreadable' in read) throw mapFailure(answer, endpoint);
  return {
    requestId,
    /** Undefined also for a person without data, because the service bills only data. */
    person: Object.keys(read.person).length > 0 ? read.person : undefined,
    waterfall: data.waterfall ?? undefined,
    /** Billed credits. The interface document does not describe them here, but some services send them. */
    creditsConsumed: readCredits(data.credits_consumed).credits,
    rateLimits: readRateHeaders(answer.headers),
    raw: answer.body,
  };
}
