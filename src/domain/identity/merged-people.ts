import { emailDomain, isRoleAddress } from './values/email-address.ts';
import { isFreeMail } from './values/free-mail.ts';
import type { ComparedPerson } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';
import { compareNames } from './names/name-agreement.ts';

/**
 * Whether records of two answers are one person, because the service merged the person, gave a new id or left the id
 * out: the names agree, and the profile or the work address does. Relatives of one name can share a private address.
 */
export function wereMerged(one: ComparedPerson, other: ComparedPerson): boolean {
  return sharesOwnIdentifier(one, other) && compareNames(one.name, other.name) === 'agree';
}

function sharesOwnIdentifier(one: ComparedPerson, other: ComparedPerson): boolean {
  const addresses = [workAddressOf(one), workAddressOf(other)] as const;
  const isOneAddress = addresses[0] !== undefined && addresses[0] === addresses[1];
  if (one.profileUrl === undefined || other.profileUrl === undefined) return isOneAddress;
  return one.profileUrl === other.profileUrl && (isOneAddress || !isOneDomain(...addresses));
}

/**
 * Whether nothing shows that two records are two people. If each of them is the same person as a third record, they are
 * one person then: they need no evidence of their own, because being one person is transitive. A record without a name
 * has only late results: a run used those of an undone run.
 */
export function canBeOnePerson(one: ComparedPerson, other: ComparedPerson): boolean {
  const addresses = [workAddressOf(one), workAddressOf(other)] as const;
  const isOtherProfile =
    one.profileUrl !== undefined && other.profileUrl !== undefined && one.profileUrl !== other.profileUrl;
  const haveNames = one.name !== undefined && other.name !== undefined;
  return (
    (!haveNames || compareNames(one.name, other.name) === 'agree') &&
    !isOtherProfile &&
    (addresses[0] === addresses[1] || !isOneDomain(...addresses))
  );
}

/** The identity keys by which records with different ids are recognised as one person: profile and work address. */
export function ownKeysOf(person: ComparedPerson): string[] {
  const { profileUrl } = person;
  const email = workAddressOf(person);
  return identityKeys({
    ...(email !== undefined && { email }),
    ...(profileUrl !== undefined && { profileUrl }),
  });
}

/** An employer gives namesakes different addresses. */
function isOneDomain(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && emailDomain(one) === emailDomain(other);
}

function workAddressOf({ mainAddress }: ComparedPerson): string | undefined {
  return mainAddress === undefined || isRoleAddress(mainAddress) || isFreeMail(emailDomain(mainAddress))
    ? undefined
    : mainAddress;
}

/**
 * Whether records of two answers about one row are two people: another id or another profile, and not merged.
 */
export function areOthers(one: ComparedPerson, other: ComparedPerson): boolean {
  const isOther = (value: string | undefined, than: string | undefined): boolean =>
    value !== undefined && than !== undefined && value !== than;
  return (
    (isOther(one.personId, other.personId) || isOther(one.profileUrl, other.profileUrl)) &&
    !wereMerged(one, other)
  );
}
