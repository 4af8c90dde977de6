import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Chance } from './chance.ts';
import inventedNames from './invented-names.json' with { type: 'json' };

/** A country of the sandbox's people and companies. Any digit replaces `#` in its phone numbers. */
export type Country = (typeof countries)[number];

export interface Company {
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  readonly country: Country;
  readonly city: string;
  readonly state: string;
  readonly foundedYear: number;
  readonly employees: number;
}

export interface SandboxPerson {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly title: (typeof titles)[number];
  readonly email: string | null;
  readonly personalEmail: string | null;
  readonly profileUrl: string;
  readonly organization: Company;
  readonly pastOrganization: string;
  readonly employedSince?: string;
  readonly hasMobile: boolean;
}

const given = z.string().optional();

/** A person as a call names them: an element of `details`, or the query of people/match. */
export const requestedPersonSchema = z.object({
  first_name: given,
  last_name: given,
  name: given,
  email: given,
  hashed_email: given,
  organization_name: given,
  domain: given,
  id: given,
  proflink_url: given,
});

export type AskedPerson = z.infer<typeof requestedPersonSchema>;

const { titles } = inventedNames;
const companyWords = inventedNames.companyWords.split(' ');
const countries = inventedNames.countries.map((country) => ({
  ...country,
  cities: Object.entries(country.cities),
  trades: country.trades.split(' '),
  firstNames: country.firstNames.split(' '),
  lastNames: country.lastNames.split(' '),
}));

/** Number of people whom every identifier finds. People with higher numbers occur only in sample exports. */
export const populationSize = 100_000;
const companyCount = 5_000;

/** Share of people outside the numbered ones whom the sandbox confuses with a namesake at another company. */
const namesakeShare = 0.02;

/** People computed from a number, or from a hash of their identity, so that all calls get the same answer. */
export class Population {
  readonly #seed: number;
  readonly #matchRate: number;

  /** Numbers of people by the MD5 and the SHA-256 of their e-mail. */
  readonly #hashes = once(() => {
    const numbers = new Map<string, number>();
    for (let number = 0; number < populationSize; number += 1) {
      const { email } = this.numbered(number);
      if (email === null) continue;
      for (const algorithm of ['md5', 'sha256'])
        numbers.set(createHash(algorithm).update(email).digest('hex'), number);
    }
    return numbers;
  });

  constructor({ seed = 1, matchRate = 0.82 }: { seed?: number; matchRate?: number | undefined } = {}) {
    this.#seed = seed;
    this.#matchRate = matchRate;
  }

  /** Makes the person of a number. Equal seeds give equal people. */
  numbered(number: number): SandboxPerson {
    const chance = new Chance(this.#seed, `person ${number}`);
    const organization = companies()[number % companyCount]!;
    const firstName = firstNameOf(number);
    const lastName = chance.pick(organization.country.lastNames, 3);
    const handle = handleOf(firstName, lastName);
    return {
      id: `5b${number.toString(16).padStart(10, '0')}${chance.identifier().slice(0, 12)}`,
      firstName,
      lastName,
      title: titles[number % titles.length]!,
      email: chance.share(0.1, 5) ? null : `${handle}@${organization.domain}`,
      personalEmail: `${handle}${number}@gmail.example`,
      profileUrl: `http://www.linkedin.com/in/${handle.replace('.', '-')}-${number.toString(36)}`,
      organization,
      pastOrganization: chance.pick(companies(), 6).name,
      hasMobile: chance.share(0.4),
    };
  }

  /** Finds a numbered person by an identifier, or draws whether the sandbox knows another one. Undefined: not found. */
  find(asked: AskedPerson): SandboxPerson | undefined {
    const { id, email, proflink_url: profile, hashed_email: hash } = asked;
    const hashed = hash && this.#hashes().get(hash.toLowerCase());
    for (const number of [hashed, numberOfId(id), numberOfEmail(email), numberOfProfile(profile)]) {
      if (typeof number !== 'number' || number >= populationSize) continue;
      const person = this.numbered(number);
      const isProfile = profile !== undefined && bareUrl(profile) === bareUrl(person.profileUrl);
      if (number === hashed || id === person.id || email?.toLowerCase() === person.email || isProfile)
        return person;
    }
    return id || hash ? undefined : this.#stranger(asked);
  }

  /** Returns a person after a move to another employer, with the new employer's e-mail. @param since date */
  afterJobChange(known: SandboxPerson, since: string): SandboxPerson {
    const chance = new Chance(this.#seed, `new job of ${known.id}`);
    const organization = chance.pick(companies());
    const email = known.email?.replace(/@.*/, `@${organization.domain}`) ?? null;
    return { ...known, organization, email, pastOrganization: known.organization.name, employedSince: since };
  }

  /** Makes a person from a hash of their identity, for some a namesake at another company. Undefined: not known. */
  #stranger(asked: AskedPerson): SandboxPerson | undefined {
    const seed = this.#seed;
    const name = nameOf(asked);
    const employer = employerOf(asked);
    const email = asked.email?.toLowerCase();
    const profile = asked.proflink_url && bareUrl(asked.proflink_url);
    // Name and employer identify a person. Without them, the e-mail or the profile URL does.
    const key =
      name && employer ? `${name.first} ${name.last} at ${employer.key}`.toLowerCase() : (email ?? profile);
    if (!key) return undefined;
    const chance = new Chance(seed, key);
    if (!chance.share(this.#matchRate)) return undefined;
    const isNamesake = chance.share(namesakeShare, 1);
    const organization =
      isNamesake || !employer ? chance.pick(companies(), 4) : employerAsCompany(seed, employer);
    // A call can contain only one part of the name.
    const firstName =
      asked.first_name?.trim() || (name?.first ?? chance.pick(organization.country.firstNames, 2));
    const lastName =
      asked.last_name?.trim() || (name?.last ?? chance.pick(organization.country.lastNames, 3));
    const handle = handleOf(firstName, lastName);
    const isCorporate = email !== undefined && !freeMail.test(email) && !isNamesake;
    return {
      id: isNamesake ? new Chance(seed, `namesake of ${key}`).identifier() : chance.identifier(),
      firstName,
      lastName,
      title: chance.pick(titles, 5),
      email: isCorporate ? email : chance.share(0.12, 6) ? null : `${handle}@${organization.domain}`,
      personalEmail: isNamesake ? null : (email ?? null),
      profileUrl:
        profile && !isNamesake
          ? `http://www.${profile}`
          : `http://www.linkedin.com/in/${handle.replaceAll('.', '-')}-${chance.identifier().slice(0, 6)}`,
      organization,
      pastOrganization: chance.pick(companies(), 3).name,
      hasMobile: chance.share(0.4, 2),
    };
  }
}

/** Companies, made at the first use. Each trade is in one country only, so that every domain names one company. */
const companies = once(() =>
  Array.from({ length: companyCount }, (_, number): Company => {
    const country = countries[number % countries.length]!;
    const place = Math.floor(number / countries.length);
    const word = companyWords[place % companyWords.length]!;
    const trade = country.trades[Math.floor(place / companyWords.length)]!;
    return {
      id: `5c${number.toString(16).padStart(22, '0')}`,
      name: `${word} ${trade} ${country.legalForm}`,
      domain: `${inAscii(word)}-${inAscii(trade)}.example`,
      ...circumstances(country, place),
    };
  }),
);
const numbersOfDomains = once(() => new Map(companies().map(({ domain }, number) => [domain, number])));

function circumstances(country: Country, number: number): Omit<Company, 'id' | 'name' | 'domain'> {
  const [city, state] = country.cities[number % country.cities.length]!;
  return { country, city, state, foundedYear: 1962 + (number % 58), employees: 12 + (number % 480) };
}

/** Returns the company with the domain of an employer, or invents one with its name. */
function employerAsCompany(seed: number, employer: NonNullable<ReturnType<typeof employerOf>>): Company {
  const { name, key, domain = `${key.replaceAll(' ', '-')}.example` } = employer;
  const numbered = companies()[numbersOfDomains().get(domain) ?? companyCount];
  if (numbered) return numbered;
  const chance = new Chance(seed, `employer ${key}`);
  return {
    id: chance.identifier(),
    name,
    domain,
    ...circumstances(chance.pick(countries), chance.below(480, 6)),
  };
}

/** Reads the number of a person from an id that `numbered` made. */
function numberOfId(id: string | undefined): number | undefined {
  const [, hex] = /^5b([0-9a-f]{10})/.exec(id ?? '') ?? [];
  return hex === undefined ? undefined : Number.parseInt(hex, 16);
}

/** Finds the number of a person by e-mail. Colleagues differ in first names, so company and first name are enough. */
function numberOfEmail(email: string | undefined): number | undefined {
  const [, first = '', domain = ''] = /^([a-z]+)\.[a-z]+@(.+)$/.exec(email?.toLowerCase() ?? '') ?? [];
  const company = numbersOfDomains().get(domain);
  if (company === undefined) return undefined;
  for (let number = company; number < populationSize; number += companyCount)
    if (inAscii(firstNameOf(number)) === first) return number;
  return undefined;
}

function firstNameOf(number: number): string {
  const company = number % companyCount;
  const { firstNames } = countries[company % countries.length]!;
  return firstNames[(company + Math.floor(number / companyCount)) % firstNames.length]!;
}

/** Reads the number of a person, in base 36, from a profile URL that `numbered` made. */
function numberOfProfile(url: string | undefined): number | undefined {
  const [, digits] = /\/in\/[a-z]+-[a-z]+-([0-9a-z]{1,6})\/?$/i.exec(url ?? '') ?? [];
  return digits === undefined ? undefined : Number.parseInt(digits, 36);
}

const freeMail =
  /@(?:gmail|googlemail|yahoo|hotmail|outlook|icloud|aol|proton|gmx|live|msn)\.|@(?:protonmail|example)\.com$/;

/** Reads first and last name from the names, or from an e-mail such as `ada.okafor@…`. */
function nameOf(asked: AskedPerson): { readonly first: string; readonly last: string } | undefined {
  if (asked.first_name && asked.last_name)
    return { first: asked.first_name.trim(), last: asked.last_name.trim() };
  const email = asked.email && !freeMail.test(asked.email) ? asked.email : '';
  const [, ...inEmail] = /^([a-z]{2,})[._]([a-z]{2,})@/i.exec(email) ?? [];
  const [first, ...rest] = asked.name ? asked.name.trim().split(/\s+/) : inEmail.map(capital);
  return first === undefined || rest.length === 0 ? undefined : { first, last: rest.join(' ') };
}

/** Reads the employer from company, domain or e-mail. Its `key` has no legal form, such as `gmbh`. */
function employerOf(asked: AskedPerson) {
  const corporate = asked.email && !freeMail.test(asked.email) ? asked.email.split('@')[1] : undefined;
  const domain = (asked.domain ?? corporate)?.toLowerCase();
  const name = asked.organization_name ?? domain?.split('.')[0]?.split('-').map(capital).join(' ');
  if (!name) return undefined;
  const key = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/ (?:inc|ltd|llc|gmbh|co)$/, '')
    .trim();
  return { name, key: key || name, domain };
}

/** Makes the part of an invented e-mail before the @, such as `ada.okafor`. Profile URLs contain it with `-`. */
function handleOf(firstName: string, lastName: string): string {
  return inAscii(`${firstName}.${lastName}`).replace(/[^\p{L}\p{N}.]/gu, '');
}

/** Writes a text in lower case without accents, as e-mails and domains need it. */
function inAscii(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ı', 'i');
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function bareUrl(url: string): string {
  return url
    .toLowerCase()
    .replace(/^(?:https?:\/\/)?(?:www\.)?/, '')
    .replace(/[?#].*$/, '')
    .replace(/\/$/, '');
}

function once<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= make());
}
