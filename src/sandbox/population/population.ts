import { createHash } from 'node:crypto';
import { Chance } from '../faults/chance.ts';
import { employerOf, freeMail, nameOf, type AskedPerson, type Employer } from './asked.ts';
import { companyWords, firstNames, lastNames, titles } from './words.ts';

export interface Company {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
}

/** The criteria of a search; empty: all people. */
export interface Search {
  readonly person_titles?: readonly string[] | undefined;
  readonly organization_domains?: readonly string[] | undefined;
}

/** A person of the service. */
export interface Known {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  /** Null: a person without an address. */
  readonly email: string | null;
  readonly personalEmail: string | null;
  readonly profileUrl: string;
  readonly organization: Company;
  readonly pastOrganization: string;
  /** Date on which a person who changed employer began there; absent: in 2021. */
  readonly employedSince?: string;
  readonly hasMobile: boolean;
}

export interface PopulationOptions {
  readonly seed: number;
  /** Number of numbered people, which are computed from their number and found by every identifier. */
  readonly people: number;
  /** Share of all other people of an export that the service knows. */
  readonly matchRate: number;
  /** Share of those that the service confuses with a namesake at another organization. */
  readonly ambiguousRate: number;
}

/** Above this number an index of hashed addresses needs too much memory. */
const mostHashedPeople = 300_000;

/**
 * The people of the sandbox. Numbered people are computed from their number, and their identifiers contain
 * it. Strangers are all other people of an export: a hash of their identity decides whether they are known
 * and what their data are, so that every call for them gets the same answer.
 */
export class Population {
  readonly #options: PopulationOptions;
  #hashes: Map<string, number> | undefined;

  constructor(options: PopulationOptions) {
    this.#options = options;
  }

  numbered(number: number): Known {
    const chance = new Chance(this.#options.seed, `person ${number}`);
    // Company and title depend only on the number, so that a search finds its page without computing all
    // people.
    const company = this.#company(number % this.#companies());
    const firstName = chance.pick(firstNames, 2);
    const lastName = chance.pick(lastNames, 3);
    const handle = `${firstName}.${lastName}.${number.toString(36)}`.toLowerCase();
    return {
      id: `5b${number.toString(16).padStart(10, '0')}${chance.identifier().slice(0, 12)}`,
      firstName,
      lastName,
      title: titleOf(number),
      email: chance.share(0.1, 5) ? null : `${handle}@${company.domain}`,
      personalEmail: `${handle}@gmail.example`,
      profileUrl: `http://www.linkedin.com/in/${handle.replaceAll('.', '-')}`,
      organization: company,
      pastOrganization: this.#company(chance.below(5_000, 6)).name,
      hasMobile: chance.share(0.4, 0),
    };
  }

  /** The person that the service finds for an identity; undefined for a miss. */
  find(asked: AskedPerson): Known | undefined {
    const number = this.#numberOf(asked);
    if (number !== undefined) return this.numbered(number);
    if (asked.id || asked.hashed_email) return undefined;
    return this.#stranger(asked);
  }

  /** A person after a move to another employer, with an address there. @param since date of the move */
  afterJobChange(known: Known, since: string): Known {
    const organization = this.#company(new Chance(this.#options.seed, `new job of ${known.id}`).below(5_000));
    const email = known.email?.replace(/@.*/, `@${organization.domain}`) ?? null;
    return { ...known, organization, email, pastOrganization: known.organization.name, employedSince: since };
  }

  /** People who match a search: their number, and the person at an index from 0. */
  search(search: Search): { readonly count: number; readonly at: (place: number) => Known | undefined } {
    const { people } = this.#options;
    const places = titles.flatMap((title, place) =>
      !search.person_titles || search.person_titles.some((wanted) => isSame(wanted, title)) ? [place] : [],
    );
    if (search.organization_domains) {
      const companies = search.organization_domains.flatMap((domain) => this.#companyNumber(domain) ?? []);
      const numbers = [...new Set(companies)]
        .flatMap((company) => this.#employees(company))
        .filter((number) => places.includes(number % titles.length));
      return { count: numbers.length, at: (place) => this.#at(numbers[place]) };
    }
    const rest = places.filter((place) => place < people % titles.length).length;
    return {
      count: Math.floor(people / titles.length) * places.length + rest,
      at: (place) =>
        this.#at(Math.floor(place / places.length) * titles.length + (places[place % places.length] ?? NaN)),
    };
  }

  /** The company of a domain: an employer of numbered people, or another known company. */
  organization(domain: string): Company | undefined {
    const number = this.#companyNumber(domain);
    if (number !== undefined) return this.#company(number);
    if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(domain)) return undefined;
    const { seed, matchRate } = this.#options;
    if (!new Chance(seed, `company at ${domain.toLowerCase()}`).share(matchRate)) return undefined;
    const employer = employerOf({ domain });
    return employer && employerAsCompany(seed, employer);
  }

  #at(number: number | undefined): Known | undefined {
    return number !== undefined && number < this.#options.people ? this.numbered(number) : undefined;
  }

  #companies(): number {
    return Math.max(1, Math.ceil(this.#options.people / 20));
  }

  #companyNumber(domain: string): number | undefined {
    const number = Number(/-(\d+)\.example$/i.exec(domain)?.[1] ?? NaN);
    const exists = number < this.#companies() && isSame(this.#company(number).domain, domain);
    return exists ? number : undefined;
  }

  #employees(company: number): number[] {
    const { people } = this.#options;
    const companies = this.#companies();
    return Array.from(
      { length: Math.ceil((people - company) / companies) },
      (_, index) => company + index * companies,
    );
  }

  #company(number: number): Company {
    const chance = new Chance(this.#options.seed, `company ${number}`);
    const name = `${chance.pick(companyWords, 0)} ${chance.pick(companyWords, 1)} ${number}`;
    return { id: chance.identifier(), name, domain: `${name.toLowerCase().replaceAll(' ', '-')}.example` };
  }

  /** Reads the number from an identifier. It counts only if the numbered person has that identifier. */
  #numberOf(asked: AskedPerson): number | undefined {
    const candidates = [
      asked.id && /^5b([0-9a-f]{10})/.exec(asked.id)?.[1]?.replace(/^/, '0x'),
      asked.email && /^[a-z]+\.[a-z]+\.([0-9a-z]+)@/i.exec(asked.email)?.[1],
      asked.proflink_url && /\/in\/[a-z]+-[a-z]+-([0-9a-z]+)\/?$/i.exec(asked.proflink_url)?.[1],
    ];
    for (const candidate of candidates) {
      if (!candidate) continue;
      const number = candidate.startsWith('0x') ? Number(candidate) : Number.parseInt(candidate, 36);
      if (!Number.isSafeInteger(number) || number < 0 || number >= this.#options.people) continue;
      const person = this.numbered(number);
      const is =
        asked.id === person.id ||
        [person.email, person.personalEmail].includes(asked.email?.toLowerCase() ?? '') ||
        (asked.proflink_url !== undefined && bareUrl(asked.proflink_url) === bareUrl(person.profileUrl));
      if (is) return number;
    }
    return asked.hashed_email ? this.#byHash(asked.hashed_email.toLowerCase()) : undefined;
  }

  #byHash(hash: string): number | undefined {
    const { people } = this.#options;
    if (people > mostHashedPeople) return undefined;
    if (!this.#hashes) {
      this.#hashes = new Map();
      for (let number = 0; number < people; number += 1) {
        const { email } = this.numbered(number);
        if (email === null) continue;
        for (const algorithm of ['md5', 'sha256']) {
          this.#hashes.set(createHash(algorithm).update(email).digest('hex'), number);
        }
      }
    }
    return this.#hashes.get(hash);
  }

  #stranger(asked: AskedPerson): Known | undefined {
    const { seed, matchRate, ambiguousRate } = this.#options;
    const name = nameOf(asked);
    const employer = employerOf(asked);
    const email = asked.email?.toLowerCase();
    const profile = asked.proflink_url && bareUrl(asked.proflink_url);
    // Name and employer identify a person; address or profile identify only a person without them.
    const key =
      name && employer ? `${name.first} ${name.last} at ${employer.key}`.toLowerCase() : (email ?? profile);
    if (!key) return undefined;
    const chance = new Chance(seed, key);
    if (!chance.share(matchRate)) return undefined;
    // A call may have one part of the name.
    const firstName = asked.first_name?.trim() || (name?.first ?? chance.pick(firstNames, 2));
    const lastName = asked.last_name?.trim() || (name?.last ?? chance.pick(lastNames, 3));
    const mixedUp = chance.share(ambiguousRate, 1);
    const own = employer ?? { name: this.#company(chance.below(5_000, 4)).name, key: '', domain: undefined };
    const company = mixedUp || !employer ? this.#company(chance.below(5_000, 4)) : undefined;
    const organization = company ?? employerAsCompany(seed, own);
    const handle = `${firstName}.${lastName}`.toLowerCase().replace(/[^\p{L}\p{N}.]/gu, '');
    const corporate = email !== undefined && !freeMail.test(email) && !mixedUp;
    return {
      id: mixedUp ? new Chance(seed, `namesake of ${key}`).identifier() : chance.identifier(),
      firstName,
      lastName,
      title: chance.pick(titles, 5),
      email: corporate ? email : chance.share(0.12, 6) ? null : `${handle}@${organization.domain}`,
      personalEmail: mixedUp ? null : (email ?? null),
      profileUrl:
        profile && !mixedUp
          ? `http://www.${profile}`
          : `http://www.linkedin.com/in/${handle.replaceAll('.', '-')}-${chance.identifier().slice(0, 6)}`,
      organization,
      pastOrganization: this.#company(chance.below(5_000, 3)).name,
      hasMobile: chance.share(0.4, 2),
    };
  }
}

function employerAsCompany(seed: number, { name, key, domain }: Employer): Company {
  const id = new Chance(seed, `employer ${key}`).identifier();
  return { id, name, domain: domain ?? `${key.replaceAll(' ', '-')}.example` };
}

function titleOf(number: number): string {
  return titles[number % titles.length]!;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function bareUrl(url: string): string {
  return url
    .toLowerCase()
    .replace(/^(?:https?:\/\/)?(?:www\.)?/, '')
    .replace(/[?#].*$/, '')
    .replace(/\/$/, '');
}
