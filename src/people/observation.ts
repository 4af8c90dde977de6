import { parseEmail, isSharedMailbox } from '../domain/identity/values/email-address.ts';
import { contactFields, type ContactFields } from '../domain/warehouse/contact-fields.ts';
import { shortenWithHash, identityKeys } from '../domain/identity/identity-keys.ts';
import {
  matchKeysWithHashes,
  identifyingKeysOfPerson,
  matchKeysOfPerson,
} from '../domain/identity/match-keys.ts';
import { displayForm } from '../domain/identity/values/normalise.ts';
import { personColumns } from '../domain/warehouse/person-columns.ts';
import type { Person } from '../domain/identity/person.ts';
import { rankPhone, readPhones, type DeliveredPhone } from '../domain/identity/values/phone.ts';
import { deliveryKinds, type DeliveryKind } from '../domain/late-results/delivery-kinds.ts';
import type { RowKey } from '../keys/contact-key.ts';
import { emailRank } from '../domain/late-results/expected-results.ts';

/** What an answer, delivery or poll contains about a person, as stored in the observation log. */
export interface ObservedFacts {
  readonly person_id: string | null;
  readonly organization_key: string | null;
  readonly identity_keys: readonly string[];
  readonly match_keys: readonly number[];
  /**
   * Values by field group, and other fields under the names of the service's interface. Undefined fields are left out,
   * because the database returns none either.
   */
  readonly facts: Readonly<Record<string, unknown>>;
  /** The employer, with the field names of the service's JSON. */
  readonly organization: Readonly<Record<string, unknown>> | null;
}

/**
 * The key in the observation log of a person without an id. The key contains the row of the call that the person could
 * be.
 */
export function personKeyWithoutId(
  row: RowKey & { readonly attemptId: string; readonly matchIndex: number },
): string {
  return `row:${row.runId}:${row.rowNumber}:${row.attemptId}:${row.matchIndex}`;
}

/** The key in the observation log of a person with an id: `person:` and the id. */
export function personKeyOfId(personId: string): string {
  return identityKeys({ personId })[0]!;
}

/**
 * The documented values of a person in an answer. Empty fields are left out, because an empty field never replaces a
 * value.
 */
export function factsOfAnswer(person: Person, waterfall?: { readonly status: string }): ObservedFacts {
  const fields = contactFields(person);
  const documented = person as Readonly<Record<string, unknown>>;
  const { organization, employment_history, contact, account } = documented;
  const key = organizationKey(fields);
  const facts = groupedFacts(documented, fields, key !== null);
  for (const member of otherMembers) if (documented[member] !== undefined) facts[member] = documented[member];
  if (facts['email']) facts['email'] = { ...facts['email'], rank: emailRank(fields.email_status) };
  const emails = emailsOf(person, fields);
  if (emails.length > 0) facts['emails'] = emails;
  if (Array.isArray(employment_history) && employment_history.length > 0)
    facts['employment'] = employment_history.map(withDates);
  if (contact) facts['contact'] = contact;
  if (account) facts['account'] = account;
  if (waterfall) facts['waterfall'] = { status: displayForm(waterfall.status) };
  return {
    person_id: fields.person_id,
    organization_key: key,
    identity_keys: confirmedKeys(fields, emails),
    // The log does not record that a field was unreadable. A partly readable person is therefore found only by
    // identifiers.
    match_keys: (person.isPartlyRead ? identifyingKeysOfPerson : matchKeysOfPerson)(person),
    facts,
    // An employer's id without name and domain does not describe the company.
    organization:
      organization && (fields.organization_name !== null || fields.organization_domain !== null)
        ? { ...organization, domain: fields.organization_domain ?? undefined }
        : null,
  };
}

/** The phone numbers and e-mails of a person in a late result, each with its rank. */
export function factsOfLateResult(
  personId: string | null,
  kind: DeliveryKind,
  person: {
    readonly phones: readonly DeliveredPhone[];
    readonly emails: readonly { readonly email: string; readonly status: string | undefined }[];
  },
): ObservedFacts {
  const { phoneOrigin, emailOrigin } = deliveryKinds[kind];
  const phones = readPhones(person.phones).map((phone) => ({
    number: phone.number,
    e164: phone.e164,
    raw_number: phone.rawNumber,
    status: phone.status,
    confidence: phone.confidence,
    position: phone.position,
    // Only known values are written, so that a later delivery of the same number keeps the values of an earlier
    // delivery.
    ...withoutNull({ type: phone.type, dnc_status: phone.dncStatus }),
    origin: phoneOrigin,
    ...rankPhone(phone),
  }));
  const addresses = withBestStatus(
    person.emails.flatMap(({ email, status }) => {
      const address = parseEmail(email);
      return address === undefined
        ? []
        : [{ email: address, ...withoutNull({ email_status: status ?? null }) }];
    }),
  );
  const keys = [
    ...(personId === null ? [] : identityKeys({ personId })),
    ...addresses.flatMap(({ email }) => (isSharedMailbox(email) ? [] : [`email:${email}`])),
  ];
  return {
    person_id: personId,
    organization_key: null,
    identity_keys: keys,
    match_keys: matchKeysWithHashes(keys),
    facts: {
      ...(personId !== null && { person_id: { person_id: personId } }),
      phones,
      ...(emailOrigin !== null && {
        waterfall_emails: addresses.map((address) => ({ ...address, rank: emailRank(address.email_status) })),
        emails: addresses.map((address, position) => ({ ...address, kind: emailOrigin, position })),
      }),
    },
    organization: null,
  };
}

/** Removes duplicate e-mails and keeps the best status. Several vendors can return the same e-mail. */
function withBestStatus<Address extends { readonly email: string; readonly email_status?: string | null }>(
  addresses: readonly Address[],
): Address[] {
  const byEmail = new Map<string, Address>();
  for (const address of addresses) {
    const earlier = byEmail.get(address.email);
    if (!earlier || emailRank(address.email_status) < emailRank(earlier.email_status))
      byEmail.set(address.email, address);
  }
  return [...byEmail.values()];
}

/** The columns of each field group that have a value. Columns of the employer count only if the employer is named. */
function groupedFacts(
  documented: Readonly<Record<string, unknown>>,
  fields: ContactFields,
  isEmployerNamed: boolean,
): Record<string, unknown> {
  const known = fields as Readonly<Record<string, unknown>>;
  const facts: Record<string, Record<string, unknown>> = {};
  for (const { name, group, type, person: member } of personColumns) {
    if ((group === 'organization_name' && !isEmployerNamed) || (group === 'email' && fields.email === null))
      continue;
    const value = columnValue(known[name] ?? (member && documented[member]), type);
    if (value !== undefined) facts[group] = { ...facts[group], [name]: value };
  }
  return facts;
}

/** Fields of a person in the service's JSON that belong to no field group and are stored as they are. */
const otherMembers = [
  'extrapolated_email_confidence',
  'contact_id',
  'account_id',
  'revealed_for_current_team',
  'is_likely_to_engage',
  'intent_strength',
  'show_intent',
] as const;

/** The value of a column of PostgreSQL type `type`, with cleaned text; undefined if it is empty or of another type. */
function columnValue(value: unknown, type: string): unknown {
  if (type === 'text[]') {
    const texts = Array.isArray(value)
      ? value.filter((each) => typeof each === 'string').map(displayForm)
      : [];
    return texts.length === 0 ? undefined : texts;
  }
  if (typeof value !== 'string') return type === 'integer' ? (value ?? undefined) : undefined;
  const text = displayForm(value);
  return text === '' ? undefined : text;
}

/** The key of a company: its id, otherwise its domain, otherwise its name. */
function organizationKey(fields: ContactFields): string | null {
  const { organization_id: id, organization_domain: domain, organization_name: name } = fields;
  if (id !== null) return `id:${shortenWithHash(id)}`;
  if (domain !== null) return `domain:${domain}`;
  return name === null ? null : `name:${shortenWithHash(name.toLowerCase())}`;
}

/** All e-mails of a person without duplicates, the profile's e-mail first. */
function emailsOf(person: Person, fields: ContactFields) {
  const status = (of: string | null | undefined) =>
    withoutNull({ email_status: of ? displayForm(of) : null });
  const all = [
    ...(fields.email === null
      ? []
      : [{ email: fields.email, kind: 'profile', ...status(fields.email_status) }]),
    ...(person.personal_emails ?? []).map((email) => ({ email, kind: 'personal' })),
    ...[person.contact, ...(person.contact?.contact_emails ?? [])].flatMap((each) =>
      each?.email ? [{ email: each.email, kind: 'saved_contact', ...status(each.email_status) }] : [],
    ),
  ];
  const byAddress = new Map<string, object>();
  for (const [position, entry] of all.entries()) {
    const email = parseEmail(entry.email);
    if (email !== undefined && !byAddress.has(email)) byAddress.set(email, { ...entry, email, position });
  }
  return [...byAddress.entries()].map(([email, entry]) => ({ ...entry, email }));
}

/** Keys that identify only this person. E-mails of shared mailboxes are left out. */
function confirmedKeys(fields: ContactFields, emails: ReturnType<typeof emailsOf>): string[] {
  return [
    ...identityKeys({
      ...(fields.person_id !== null && { personId: fields.person_id }),
      ...(fields.profile_url !== null && { profileUrl: fields.profile_url }),
    }),
    ...emails.flatMap(({ email }) => (isSharedMailbox(email) ? [] : [`email:${email}`])),
  ];
}

/** Adds start and end date of a job in PostgreSQL's form beside the service's own texts. */
function withDates(employment: unknown): object {
  const { current, ...job } = employment as Readonly<Record<string, unknown>>;
  return withoutNull({
    ...job,
    current: typeof current === 'boolean' ? current : null,
    started_on: isoDate(job['start_date']),
    ended_on: isoDate(job['end_date']),
  });
}

/** The date at the beginning of a text such as `2024-05-01T00:00:00`; null if there is no valid date. */
function isoDate(text: unknown): string | null {
  const [date, year, month, day] =
    typeof text === 'string' ? (/^([12]\d{3})-(\d\d)-(\d\d)(?!\d)/.exec(text) ?? []) : [];
  // JavaScript reads the 31st of June as the 1st of July. Such a date keeps only its text.
  const read = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date !== undefined && read.getUTCDate() === Number(day) && Number(month) <= 12 ? date : null;
}

/** Leaves out fields that are null. */
function withoutNull<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Partial<Fields>;
}
