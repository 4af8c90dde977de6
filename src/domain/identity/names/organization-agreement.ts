import { parseDomain, emailDomain, parseEmail, isFreeMailDomain } from '../values/email-address.ts';
import type { Identity } from '../identity.ts';
import { organizationComparisonForm } from '../values/normalise.ts';
import { memoizePerText } from '../../compute-once.ts';
import type { Person } from '../person.ts';

/** Cached parser of domains. Parsing takes several microseconds, and staging compares a million rows. */
const domainOf = memoizePerText(parseDomain);
const formOf = memoizePerText(organizationComparisonForm);

/** A person's employers, in comparison form. */
export interface Employers {
  readonly names: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
  /** Names of earlier employers. The service gives no domain for earlier employers. */
  readonly pastNames: ReadonlySet<string>;
}

type EmployerVerdict = 'agree' | 'differ' | 'unknown';

/** The employer of a row: by its name, its domain, or the domain of an e-mail that is not free mail. */
export function employersOfIdentity(identity: Identity): Employers {
  return collect(
    [identity.organizationName],
    [identity.domain],
    [identity.email, ...(identity.otherEmails ?? [])],
  );
}

/** All employers of a person: the current employer, the employer of the saved contact, and earlier employers. */
export function employersOfPerson(person: Person): Employers {
  const { organization, contact, employment_history: history } = person;
  const present = collect(
    [organization?.name, contact?.organization_name],
    [organization?.primary_domain, organization?.website_url],
    [person.email, contact?.email],
  );
  const past = formsOf((history ?? []).map((job) => job?.organization_name));
  return { ...present, pastNames: new Set(past.filter((name) => !present.names.has(name))) };
}

/**
 * Compares employers. One common employer is enough, because people change jobs and exports are often old. If both
 * sides have a domain, current names do not count: many companies share a name, and `acme.de` may not be `acme.com`.
 */
export function compareEmployers(one: Employers, other: Employers): EmployerVerdict {
  if (intersects(one.domains, other.domains)) return 'agree';
  if (hasWorkedAt(one, other) || hasWorkedAt(other, one)) return 'agree';
  if (one.domains.size > 0 && other.domains.size > 0) return 'differ';
  if (intersects(one.names, other.names)) return 'agree';
  if (namesADomain(one.names, other.domains) || namesADomain(other.names, one.domains)) return 'agree';
  return statesNoEmployer(one) || statesNoEmployer(other) ? 'unknown' : 'differ';
}

/** True if two people may have, or may have had, the same employer by name or domain. */
export function canShareEmployer(one: Employers, other: Employers): boolean {
  return intersects(one.names, other.names) || compareEmployers(one, other) === 'agree';
}

/** True if cells name the new employer, by a domain, e-mail or name that the former employer does not have. */
export function namesNewEmployer(
  cells: Identity,
  { from, to }: Readonly<Record<'from' | 'to', Readonly<Record<'name' | 'domain', string | null>>>>,
): boolean {
  const theirs = employersOfIdentity(cells);
  const [former, present] = [from, to].map(({ name, domain }) => collect([name], [domain], []));
  return (
    intersects(theirs.domains, present!.domains) ||
    (canShareEmployer(theirs, present!) && !canShareEmployer(former!, present!))
  );
}

/** True if an earlier employer of a person is this employer. Earlier employers have only names. */
function hasWorkedAt(person: Employers, employer: Employers): boolean {
  return intersects(person.pastNames, employer.names) || namesADomain(person.pastNames, employer.domains);
}

function statesNoEmployer(employers: Employers): boolean {
  return employers.names.size + employers.domains.size + employers.pastNames.size === 0;
}

/** Collects employers from names, domains or URLs, and e-mails. Free mail is left out, because it names no employer. */
function collect(
  names: readonly (string | null | undefined)[],
  domains: readonly (string | null | undefined)[],
  emails: readonly (string | null | undefined)[],
): Employers {
  // The domain of a placeholder such as `email_not_unlocked@domain.com` is not an employer's domain.
  const corporate = emails
    .flatMap((email) => (email && parseEmail(email)) || [])
    .map(emailDomain)
    .filter((domain) => !isFreeMailDomain(domain));
  return {
    names: new Set(formsOf(names)),
    domains: new Set([...domains, ...corporate].flatMap((domain) => (domain && domainOf(domain)) || [])),
    pastNames: new Set(),
  };
}

function formsOf(names: readonly (string | null | undefined)[]): string[] {
  return names.map((name) => (name ? formOf(name) : '')).filter((name) => name !== '');
}

function intersects(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].some((value) => other.has(value));
}

/** True if a name matches a domain: `Acme Robotics` and `acme-robotics.example` are the same employer. */
function namesADomain(names: ReadonlySet<string>, domains: ReadonlySet<string>): boolean {
  const labels = new Set([...domains].map(labelOfDomain));
  return [...names].some((name) => labels.has(name.replaceAll(' ', '')));
}

/** The part of a domain that names the company, without hyphens: `acmerobotics` of `acme-robotics.example`. */
function labelOfDomain(domain: string): string {
  return domain.split('.')[0]!.replaceAll('-', '');
}

/** Words from names and domains of employers. Employers that agree share a word; the reverse need not be true. */
export function wordsOfEmployers({ names, domains, pastNames }: Employers): ReadonlySet<string> {
  const named = [...names, ...pastNames].map((name) => name.replaceAll(' ', ''));
  return new Set([...named, ...[...domains].map(labelOfDomain)]);
}
