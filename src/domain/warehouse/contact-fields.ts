import { parseDomain, parseEmail } from '../identity/values/email-address.ts';
import { displayForm } from '../identity/values/normalise.ts';
import { memoizePerObject } from '../compute-once.ts';
import { personColumns, type ContactColumns, type CopiedColumns } from './person-columns.ts';
import type { Organization, Person } from '../identity/person.ts';
import { parseProfileUrl } from '../identity/values/profile-url.ts';

/** The columns of `enriched_contacts` that an answer can fill; null if the answer has no value. */
export type ContactFields = Readonly<Omit<ContactColumns, 'phone'>>;

/** Reads the columns of a contact from an answer. A placeholder for an e-mail counts as no e-mail. */
export const contactFields = memoizePerObject((person: Person): ContactFields => {
  const { organization } = person;
  const profile = (person.proflink_url && parseProfileUrl(person.proflink_url)) || null;
  const email = person.email ? (parseEmail(person.email) ?? null) : null;
  return {
    ...copied(person),
    email,
    email_status: email === null ? null : text(person.email_status),
    organization_id: text(organization?.id ?? person.organization_id),
    organization_domain: domainOf(organization?.primary_domain) ?? domainOf(organization?.website_url),
    // On a profile page the path identifies the person, and the query only tracks visitors.
    linkedin_url: text(profile === null ? person.proflink_url : person.proflink_url?.replace(/[?#].*$/s, '')),
    profile_url: profile,
  };
});

const copiedColumns = personColumns.filter(
  ({ inContacts, person, employer }) => inContacts && (person ?? employer) !== undefined,
);

/** Reads the columns that copy a field of the person or of the employer without change. */
function copied(person: Person): CopiedColumns {
  return Object.fromEntries(
    copiedColumns.map(({ name, type, person: member, employer }) => {
      const value =
        member === undefined
          ? person.organization?.[employer as keyof Organization]
          : person[member as keyof Person];
      return [name, readers[type](value)];
    }),
  ) as CopiedColumns;
}

const readers = { text, 'text[]': texts, integer: wholeNumber };

/** The texts of a list; null if there are none. */
function texts(value: unknown): string[] | null {
  const all = Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  return all.length === 0 ? null : all.map((each) => displayForm(each));
}

/** A text without NUL and lone surrogates, which PostgreSQL refuses; null if it is empty or another type. */
function text(value: unknown): string | null {
  const tidy = typeof value === 'string' ? displayForm(value) : '';
  return tidy === '' ? null : tidy;
}

function domainOf(value: string | null | undefined): string | null {
  return value ? (parseDomain(value) ?? null) : null;
}

/** A number that fits PostgreSQL's integer and is not negative; null for anything else. */
function wholeNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null;
}
