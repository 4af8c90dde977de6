import { readyPerson } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';
import { contactFields } from '../warehouse/contact-fields.ts';
import type { Person } from './person.ts';

/**
 * All keys by which the suppression list could have a person: the id, the profile, every address of the answer, and the
 * domain of the employer (`domain:acme.example`).
 */
export function keysOfPerson(person: Person): string[] {
  const { personId, profileUrl, emails } = readyPerson(person);
  const { organization_domain: domain } = contactFields(person);
  const keys = identityKeys({
    ...(personId !== undefined && { personId }),
    ...(profileUrl !== undefined && { profileUrl }),
    otherEmails: [...emails],
    ...(person.first_name && { firstName: person.first_name }),
    ...(person.last_name && { lastName: person.last_name }),
    ...(person.name && { name: person.name }),
  }).map((key) => key.replaceAll('\0', '').toWellFormed());
  return domain === null ? keys : [...keys, `domain:${domain}`];
}
