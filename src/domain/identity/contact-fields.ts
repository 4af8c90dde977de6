import { parseDomain } from './domain-name.ts';
import { parseEmail } from './email-address.ts';
import { displayForm } from './normalise.ts';
import { oncePerObject } from './once-per-object.ts';
import type { ContactColumns } from './person-field-groups.ts';
import type { Person } from './person.ts';
import { parseProfileUrl } from './profile-url.ts';

/** The columns of `enriched_contacts` that an answer can fill; null where the answer says nothing. */
export type ContactFields = Readonly<Omit<ContactColumns, 'phone'>>;

/** What an answer says of a contact's columns. A placeholder in place of an address is no address. */
export const contactFields = oncePerObject((person: Person): ContactFields => {
  const { organization } = person;
  const email = person.email ? (parseEmail(person.email) ?? null) : null;
  return {
    person_id: text(person.id),
    first_name: text(person.first_name),
    last_name: text(person.last_name),
    email,
    email_status: email === null ? null : text(person.email_status),
    title: text(person.title),
    headline: text(person.headline),
    seniority: text(person.seniority),
    departments: person.departments?.length ? person.departments.map((name) => displayForm(name)) : null,
    city: text(person.city),
    state: text(person.state),
    country: text(person.country),
    organization_id: text(organization?.id ?? person.organization_id),
    organization_name: text(organization?.name),
    organization_domain: domainOf(organization?.primary_domain ?? organization?.website_url),
    organization_industry: text(organization?.industry),
    organization_employees: wholeNumber(organization?.estimated_num_employees),
    linkedin_url: text(person.proflink_url),
    profile_url: (person.proflink_url && parseProfileUrl(person.proflink_url)) || null,
  };
});

/** Without NUL and lone surrogates, which a text column refuses. */
function text(value: string | null | undefined): string | null {
  const tidy = value ? displayForm(value) : '';
  return tidy === '' ? null : tidy;
}

function domainOf(value: string | null | undefined): string | null {
  return value ? (parseDomain(value) ?? null) : null;
}

function wholeNumber(value: number | null | undefined): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null;
}
