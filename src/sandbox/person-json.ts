import { createHash } from 'node:crypto';
import type { SandboxPerson } from './population.ts';
import records from './records.json' with { type: 'json' };

export interface PersonOptions {
  /** Answers of `match` include the person's saved contact, those of `bulk_match` the account. */
  readonly endpoint: 'match' | 'bulk_match';
  readonly personalEmails: boolean;
}

/** Templates of records: texts and names of values in turn. Joining texts is faster than making objects. */
const templates = {
  match: templateOf({ ...records.person, ...records.match }),
  bulk_match: templateOf({ ...records.person, ...records.bulk_match }),
};

const bytesWithoutKeywords = 5_000;

export type PersonWriter = ReturnType<typeof createPersonWriter>;

/**
 * Makes a writer of people as JSON with all fields of the service's interface.
 *
 * @param bytes approximate size of a person's JSON; as in real answers, most of it is the organization
 */
export function createPersonWriter(bytes: number) {
  const keyword = 'invented keyword for weight';
  const count = Math.max(0, Math.ceil((bytes - bytesWithoutKeywords) / (keyword.length + 3)));
  const keywords = JSON.stringify(Array.from({ length: count }, () => keyword));
  return (known: SandboxPerson, { endpoint, personalEmails }: PersonOptions): string => {
    const values = templateValuesOf(known, endpoint);
    const valueOf = (name: string) => (name === 'keywords' ? keywords : JSON.stringify(values[name]));
    const parts = templates[endpoint].map((part, index) => (index % 2 === 0 ? part : valueOf(part)));
    const text = parts.join('');
    if (!personalEmails) return text;
    const { personalEmail, organization } = known;
    const emails = personalEmail === null || organization.country.isRegulated ? [] : [personalEmail];
    return `${text.slice(0, -1)},"personal_emails":${JSON.stringify(emails)}}`;
  };
}

/**
 * Returns the values of the `$names` in records.json. The present job begins at `since`, and the earlier one ends at
 * `until`. Only answers of `match` contain the saved contact, so only these have its e-mails.
 */
function templateValuesOf(
  known: SandboxPerson,
  endpoint: PersonOptions['endpoint'],
): Record<string, unknown> {
  const { id, firstName, lastName, title, email, organization, employedSince } = known;
  const { name: organizationName, domain, city, state, employees, country } = organization;
  return {
    id,
    firstName,
    lastName,
    name: `${firstName} ${lastName}`,
    profileUrl: known.profileUrl,
    title: title.name,
    headline: `${title.name} at ${organizationName}`,
    seniority: title.seniority,
    department: title.department,
    email,
    emailStatus: email === null ? null : 'verified',
    since: employedSince ?? '2021-06-01',
    until: employedSince ?? '2021-05-31',
    pastOrganization: known.pastOrganization,
    contactId: `c${id.slice(1)}`,
    contactEmails: email === null || endpoint !== 'match' ? [] : [contactEmail(email)],
    organizationId: organization.id,
    accountId: `a${organization.id.slice(1)}`,
    organizationName,
    domain,
    website: `http://www.${domain}`,
    companyProfile: `http://www.linkedin.com/company/${domain.split('.')[0]}`,
    foundedYear: organization.foundedYear,
    employees,
    revenue: employees * 100_000,
    revenuePrinted: `${employees / 10}M`,
    city,
    state,
    country: country.name,
    place: `${city}, ${country.name}`,
    address: `${country.street}, ${city}, ${country.name}`,
    street: country.street,
    postalCode: String(10_000 + employees),
    timeZone: country.timeZone,
    description: `${organizationName} is a company in ${city}, invented by the sandbox.`,
  };
}

function contactEmail(email: string): object {
  const hash = (algorithm: string) => createHash(algorithm).update(email).digest('hex');
  return {
    email,
    email_md5: hash('md5'),
    email_sha256: hash('sha256'),
    email_status: 'verified',
    email_source: null,
    email_from_customer: null,
    extrapolated_email_confidence: null,
    position: 0,
    free_domain: false,
  };
}

/** Splits a record into texts (even positions) and names of values (odd positions). */
function templateOf(record: object): readonly string[] {
  return JSON.stringify(record).split(/"\$(\w+)"/);
}
