import { contactFields } from '../warehouse/contact-fields.ts';
import { emailDomain, isSharedMailbox, parseEmail, emailHashes } from './values/email-address.ts';
import type { Identity } from './identity.ts';
import { identityKeys } from './identity-keys.ts';
import { compareNames, toComparedName, type ComparedName } from './names/name-agreement.ts';
import {
  compareEmployers,
  employersOfIdentity,
  employersOfPerson,
  canShareEmployer,
  type Employers,
} from './names/organization-agreement.ts';
import { displayForm } from './values/normalise.ts';
import { memoizePerObject } from '../compute-once.ts';
import type { Person } from './person.ts';
import { parseProfileUrl } from './values/profile-url.ts';

/** Evidence that can fit several people. It counts only if no other contact competes for the person. */
export const weakEvidence = 'name_and_organization';

/** Kinds of evidence that the product itself finds. */
type Evident = 'person_id' | 'profile_url' | 'email' | 'hashed_email' | typeof weakEvidence;

/** Why a person was accepted, as stored with the attempt. `confirmed`: by a decision of the operator. */
export type Evidence = Evident | 'confirmed';

/**
 * How well a person fits a row.
 *
 * - `strong`: an identifier that belongs to one person agrees.
 * - `weak`: name and employer agree.
 * - `none`: nothing identifies the person, or something contradicts (`reason`). `sharesIdentifier`: an identifier or a
 *   shared mailbox agrees. `namesake`: name and employer agree, but something else contradicts.
 */
export type Fit =
  | { readonly strength: 'strong' | 'weak'; readonly evidence: Evident }
  | {
      readonly strength: 'none';
      readonly reason: string;
      readonly sameName: boolean;
      readonly sharesIdentifier: boolean;
      readonly namesake: boolean;
    };

/** A row, prepared for comparisons with many people. */
export interface ComparedIdentity {
  readonly identity: Identity;
  /** Identity keys of the row, from `identityKeys`. */
  readonly keys: readonly string[];
  readonly name: ComparedName | undefined;
  readonly employers: Employers;
  /** E-mails of the row without shared mailboxes. */
  readonly personalAddresses: readonly string[];
}

/** A person, prepared for comparisons with many rows. */
export interface ComparedPerson {
  /** Id of the person at the service; undefined if the service gives no id. Two missing ids are not equal. */
  readonly personId: string | undefined;
  readonly name: ComparedName | undefined;
  readonly employers: Employers;
  readonly emails: ReadonlySet<string>;
  /** Domains of the person's e-mails, without shared mailboxes. */
  readonly mailboxDomains: ReadonlySet<string>;
  readonly profileUrl: string | undefined;
  readonly isPartlyRead: boolean;
  /** All fields of the person as text, to compare two people without ids. */
  readonly record: string;
}

/** Prepares a row for comparisons: splits the name and collects keys and employers. */
export const toComparedIdentity = memoizePerObject((identity: Identity): ComparedIdentity => ({
  identity,
  keys: identityKeys(identity),
  name: toComparedName(identity.firstName, identity.lastName, identity.name),
  employers: employersOfIdentity(identity),
  personalAddresses: [identity.email, ...(identity.otherEmails ?? [])].filter(
    (email): email is string => email !== undefined && !isSharedMailbox(email),
  ),
}));

/** Prepares a person for comparisons: splits the name and collects keys and employers. */
export const toComparedPerson = memoizePerObject((person: Person): ComparedPerson => {
  const stated = [
    person.email,
    person.contact?.email,
    ...(person.personal_emails ?? []),
    ...(person.contact?.contact_emails ?? []).map((each) => each?.email),
  ];
  const emails = new Set(stated.flatMap((email) => (email && parseEmail(email)) || []));
  return {
    // The id has the form in which tables store it.
    personId: displayForm(person.id ?? '') || undefined,
    name: toComparedName(person.first_name, person.last_name, person.name),
    employers: employersOfPerson(person),
    emails,
    mailboxDomains: new Set([...emails].filter((email) => !isSharedMailbox(email)).map(emailDomain)),
    profileUrl: person.proflink_url ? parseProfileUrl(person.proflink_url) : undefined,
    isPartlyRead: person.isPartlyRead === true,
    // The field `record` is computed on demand, because only people without ids are compared by all fields.
    get record() {
      return JSON.stringify(contactFields(person));
    },
  };
});

/**
 * True if two records are the same person: they have the same id; or one has no id, and they have equal fields, or the
 * same profile with agreeing names. Two missing ids are not equal.
 */
export function areSamePerson(one: ComparedPerson, other: ComparedPerson): boolean {
  if (one === other) return true;
  if (one.personId !== undefined && other.personId !== undefined) return one.personId === other.personId;
  const isOneProfile = one.profileUrl !== undefined && one.profileUrl === other.profileUrl;
  return isOneProfile ? compareNames(one.name, other.name) === 'agree' : one.record === other.record;
}

/** True if two records with the same id are different people. Some services reuse ids, or give everyone the same id. */
export function areTwoPeopleWithOneId(one: ComparedPerson, other: ComparedPerson): boolean {
  const verdict = compareNames(one.name, other.name);
  const shareIdentifier =
    [...one.emails].some((email) => other.emails.has(email)) ||
    (one.profileUrl !== undefined && one.profileUrl === other.profileUrl);
  return verdict === 'differ' || (verdict === 'other_first_name' && !shareIdentifier);
}

/** True for a miss: no name, real e-mail or profile. Some services fill in the company even then. */
export function isEmptyPerson(person: Person): boolean {
  const hasName = Boolean(person.first_name || person.last_name || person.name);
  return !hasName && !person.proflink_url && !(person.email && parseEmail(person.email));
}

/**
 * Decides how well a person fits a row, by the identity rule (docs/explanation/identity.md). The position in the answer
 * does not count.
 *
 * - An agreeing identifier accepts the person, unless no part of the name agrees. If only the first name differs, the
 *   service's id is enough, or e-mail and profile together, because one of them may be a relative's or a colleague's.
 * - Without an agreeing identifier, another id, profile, or e-mail at the same domain contradicts. A hash does not,
 *   because the hashed e-mail can be at any domain. Name and employer must both agree.
 * - A person who could not be read completely needs an identifier, because the missing part could contradict.
 */
export function weighFit(row: ComparedIdentity, candidate: ComparedPerson): Fit {
  const { identity } = row;
  const names = compareNames(row.name, candidate.name);
  const [strong, ...others] = agreeingIdentifiers(row, candidate);
  const against = (reason: string): Fit => {
    const sameName = names === 'agree';
    const sharesIdentifier =
      strong !== undefined || (identity.email !== undefined && candidate.emails.has(identity.email));
    const namesake = sameName && canShareEmployer(row.employers, candidate.employers);
    return { strength: 'none', reason, sameName, sharesIdentifier, namesake };
  };

  if (strong !== undefined) {
    const isTyped = strong !== 'person_id' && others.length === 0;
    return names === 'differ' || (isTyped && names === 'other_first_name')
      ? against(`the ${strong} agrees and the name does not`)
      : { strength: 'strong', evidence: strong };
  }
  if (candidate.isPartlyRead) return against('only an identifier could show that it is this person');
  if (identity.personId !== undefined && candidate.personId !== undefined)
    return against('another person id than was asked for');
  if (identity.profileUrl !== undefined && candidate.profileUrl !== undefined)
    return against('another profile url');
  // At one employer, `john.smith@` and `jsmith@` can be one person or two namesakes.
  if (row.personalAddresses.some((email) => candidate.mailboxDomains.has(emailDomain(email))))
    return against('another address at the same domain');
  switch (names) {
    case 'unknown':
      return against('nothing shows that it is this person');
    case 'partly':
      return against('only a part of the name agrees');
    case 'other_first_name':
    case 'differ':
      return against('another name');
    case 'agree':
  }
  switch (compareEmployers(row.employers, candidate.employers)) {
    case 'agree':
      return { strength: 'weak', evidence: weakEvidence };
    case 'unknown':
      return against('only the name agrees');
    case 'differ':
      return against('the same name at another organization');
  }
}

/** The kinds of identifiers that agree, the best first. An e-mail and its hash count as one kind. */
function agreeingIdentifiers(
  { identity, personalAddresses }: ComparedIdentity,
  candidate: ComparedPerson,
): Evident[] {
  const { personId, profileUrl, hashedEmail } = identity;
  const kinds: Evident[] = [];
  if (personId !== undefined && personId === candidate.personId) kinds.push('person_id');
  if (profileUrl !== undefined && profileUrl === candidate.profileUrl) kinds.push('profile_url');
  if (personalAddresses.some((email) => candidate.emails.has(email))) kinds.push('email');
  else if (
    hashedEmail !== undefined &&
    [...candidate.emails].some((email) => !isSharedMailbox(email) && emailHashes(email).includes(hashedEmail))
  )
    kinds.push('hashed_email');
  return kinds;
}
