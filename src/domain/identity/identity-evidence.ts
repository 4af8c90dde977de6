import { contactFields } from './contact-fields.ts';
import { emailDomain, isRoleAddress, parseEmail } from './email-address.ts';
import type { Identity } from './identity.ts';
import { identityKeys } from './identity-keys.ts';
import { compareNames, compareReady, isMadeOfName, type ComparedName } from './name-agreement.ts';
import {
  compareEmployers,
  employersOfIdentity,
  employersOfPerson,
  mayBeOneEmployer,
  type Employers,
} from './organization-agreement.ts';
import { displayForm } from './normalise.ts';
import { oncePerObject } from './once-per-object.ts';
import type { Person } from './person.ts';
import { parseProfileUrl } from './profile-url.ts';

/** Evidence that names no one person: it holds only where no other contact could be that person. */
export const weakEvidence = ['name_and_organization', 'email_names_person'] as const;
type WeakEvidence = (typeof weakEvidence)[number];

/** Why a person was accepted for a row; stored with the row's attempt. */
export type Evidence = 'person_id' | 'profile_url' | 'email' | 'hashed_email' | WeakEvidence;

/** Whether evidence names more than one person, perhaps. */
export function isWeak(evidence: Evidence): evidence is WeakEvidence {
  return weakEvidence.some((each) => each === evidence);
}

/**
 * How well a person fits a row.
 *
 * - `strong`: an identifier that belongs to one person agrees.
 * - `weak`: name and employer agree.
 * - `none`: nothing speaks for it; `reason` is what speaks against it. `sameName`: the names agree. `namesake`: both
 *   say one employer as well, and something else contradicts.
 */
export type Fit =
  | { readonly strength: 'strong' | 'weak'; readonly evidence: Evidence }
  | {
      readonly strength: 'none';
      readonly reason: string;
      readonly sameName: boolean;
      readonly namesake: boolean;
    };

/** Hexadecimal hashes of an address, for rows that hold only a hash. The domain itself computes none: it is pure. */
export type EmailHashes = (email: string) => readonly string[];

/** A row, made ready to be compared with many people. */
export interface ComparedIdentity {
  readonly identity: Identity;
  /** `identityKeys` of it. */
  readonly keys: readonly string[];
  readonly name: ComparedName | undefined;
  readonly employers: Employers;
  /** The addresses of the row but those that several people read, which say nothing of which of them it is. */
  readonly personalAddresses: readonly string[];
}

/** A person, made ready to be compared with many rows. */
export interface ComparedPerson {
  /** Undefined where the service says none: two missing ids are never equal. */
  readonly personId: string | undefined;
  readonly name: ComparedName | undefined;
  readonly employers: Employers;
  readonly emails: ReadonlySet<string>;
  /** The domains of the addresses that only the person reads. */
  readonly mailboxDomains: ReadonlySet<string>;
  readonly profileUrl: string | undefined;
  readonly isPartlyRead: boolean;
  /** Everything that the record says, to tell apart two people without ids. */
  readonly record: string;
}

export const readyIdentity = oncePerObject((identity: Identity): ComparedIdentity => ({
  identity,
  keys: identityKeys(identity),
  name: compareReady(identity.firstName, identity.lastName, identity.name),
  employers: employersOfIdentity(identity),
  personalAddresses: [identity.email, ...(identity.otherEmails ?? [])].filter(
    (email): email is string => email !== undefined && !isRoleAddress(email),
  ),
}));

export const readyPerson = oncePerObject((person: Person): ComparedPerson => {
  const emails = [
    person.email,
    person.contact?.email,
    ...(person.personal_emails ?? []),
    ...(person.contact?.contact_emails ?? []).map((each) => each?.email),
  ];
  const parsed = new Set(
    emails.map((email) => (email ? parseEmail(email) : undefined)).filter((email) => email !== undefined),
  );
  return {
    personId: personIdOf(person),
    name: compareReady(person.first_name, person.last_name, person.name),
    employers: employersOfPerson(person),
    emails: parsed,
    mailboxDomains: new Set([...parsed].filter((email) => !isRoleAddress(email)).map(emailDomain)),
    profileUrl: person.proflink_url ? parseProfileUrl(person.proflink_url) : undefined,
    isPartlyRead: person.isPartlyRead === true,
    record: JSON.stringify(contactFields(person)),
  };
});

/**
 * Whether two records are of one person: one id; or, where an id is missing, one profile and agreeing names, or the
 * same in every field. Two missing ids are not equal.
 */
export function isOnePerson(one: ComparedPerson, other: ComparedPerson): boolean {
  if (one === other) return true;
  if (one.personId !== undefined && other.personId !== undefined) return one.personId === other.personId;
  const isOneProfile = one.profileUrl !== undefined && one.profileUrl === other.profileUrl;
  return isOneProfile ? compareNames(one.name, other.name) === 'agree' : one.record === other.record;
}

/** The id of a person as it is kept; undefined where the service says none. */
function personIdOf({ id }: Person): string | undefined {
  return displayForm(id ?? '') || undefined;
}

/**
 * Whether a person is a miss: no name, no address (a placeholder is no address) and no profile. Some services fill in
 * the organization even then.
 */
export function isStub(person: Person): boolean {
  const hasName = Boolean(person.first_name || person.last_name || person.name);
  return !hasName && !person.proflink_url && !(person.email && parseEmail(person.email));
}

/**
 * Weighs a person against a row. Positions do not count: the same pair always weighs the same.
 *
 * The identity rule (docs/identity.md): an identifier that agrees accepts. Where the first name contradicts, an address
 * or a profile alone is too little: a person may have typed the one of a relative or a colleague. The service's id, or
 * an address and a profile together, accept another first name. Nothing accepts a name of which no part agrees. Another
 * service id than the one asked for contradicts, unless an address or profile agrees (merged records). Without an
 * identifier, name and employer must both agree; another address at the same domain contradicts. A hash that is of none
 * of the person's addresses does not: its address can be at any domain. Only an identifier accepts a person of whom a
 * part could not be read, because that part could contradict.
 */
export function weigh(row: ComparedIdentity, candidate: ComparedPerson, hashesOf: EmailHashes): Fit {
  const { identity } = row;
  const names = compareNames(row.name, candidate.name);
  const against = (reason: string): Fit => {
    const sameName = names === 'agree';
    const namesake = sameName && mayBeOneEmployer(row.employers, candidate.employers);
    return { strength: 'none', reason, sameName, namesake };
  };

  const [strong, ...others] = agreeingIdentifiers(row, candidate, hashesOf);
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
  if (hasOtherMailbox(row, candidate)) return against('another address at the same domain');
  if (emailNamesPerson(row, candidate)) return { strength: 'weak', evidence: 'email_names_person' };

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
      return { strength: 'weak', evidence: 'name_and_organization' };
    case 'unknown':
      return against('only the name agrees');
    case 'differ':
      return against('the same name at another organization');
  }
}

/** The kinds of identifiers that agree, the best first. A hash is an address in another form: the two are one kind. */
function agreeingIdentifiers(
  { identity, personalAddresses }: ComparedIdentity,
  candidate: ComparedPerson,
  hashesOf: EmailHashes,
): Evidence[] {
  const { personId, profileUrl, hashedEmail } = identity;
  const kinds: Evidence[] = [];
  if (personId !== undefined && personId === candidate.personId) kinds.push('person_id');
  if (profileUrl !== undefined && profileUrl === candidate.profileUrl) kinds.push('profile_url');
  if (personalAddresses.some((email) => candidate.emails.has(email))) kinds.push('email');
  else if (
    hashedEmail !== undefined &&
    [...candidate.emails].some((email) => !isRoleAddress(email) && hashesOf(email).includes(hashedEmail))
  )
    kinds.push('hashed_email');
  return kinds;
}

/**
 * Both have an address at one domain, and not the same one: an employer tells namesakes apart by it. A person who has
 * two is doubted as well, because `john.smith@` and `jsmith@` look alike whether one man has both or two have one each.
 */
function hasOtherMailbox({ personalAddresses }: ComparedIdentity, candidate: ComparedPerson): boolean {
  return personalAddresses.some((email) => candidate.mailboxDomains.has(emailDomain(email)));
}

/**
 * A row without a whole name: its corporate address is made of the person's name, at an employer of the person. Where
 * the row has a single word for a name, the person has it too: `jdoe@` of Jane is not John Doe's.
 */
function emailNamesPerson({ personalAddresses, name }: ComparedIdentity, candidate: ComparedPerson): boolean {
  const fullName = candidate.name;
  if (!fullName || (name && (name.all.length > 1 || !fullName.all.includes(name.all[0]!)))) return false;
  return personalAddresses.some((email) => {
    const employer = employersOfIdentity({ email });
    return (
      compareEmployers(employer, candidate.employers) === 'agree' &&
      isMadeOfName(email.slice(0, email.lastIndexOf('@')), fullName)
    );
  });
}
