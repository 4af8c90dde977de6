/** The identity in a call: one element of `details`, or the query of people/match. */
export interface AskedPerson {
  readonly first_name?: string | undefined;
  readonly last_name?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly hashed_email?: string | undefined;
  readonly organization_name?: string | undefined;
  readonly domain?: string | undefined;
  readonly id?: string | undefined;
  readonly proflink_url?: string | undefined;
}

/** Addresses that say nothing of an employer. */
export const freeMail =
  /@(?:gmail|googlemail|yahoo|hotmail|outlook|icloud|aol|proton|gmx|live|msn)\.|@(?:protonmail|example)\.com$/;

/** The name in a call, or in its address. */
export function nameOf(asked: AskedPerson): { first: string; last: string } | undefined {
  if (asked.first_name && asked.last_name)
    return { first: asked.first_name.trim(), last: asked.last_name.trim() };
  const fromEmail =
    asked.email && !freeMail.test(asked.email) && /^([a-z]{2,})[._]([a-z]{2,})@/i.exec(asked.email);
  const words = asked.name
    ? asked.name.trim().split(/\s+/)
    : fromEmail
      ? [fromEmail[1]!, fromEmail[2]!].map(capital)
      : [];
  return words.length < 2 ? undefined : { first: words[0]!, last: words.slice(1).join(' ') };
}

export interface Employer {
  readonly name: string;
  readonly key: string;
  readonly domain: string | undefined;
}

/** The employer in a call, or in its corporate address. */
export function employerOf(asked: AskedPerson): Employer | undefined {
  const corporate = asked.email && !freeMail.test(asked.email) ? asked.email.split('@')[1] : undefined;
  const domain = asked.domain?.toLowerCase() ?? corporate?.toLowerCase();
  const label = domain?.split('.')[0]?.replaceAll('-', ' ');
  const name = asked.organization_name ?? (label && label.split(' ').map(capital).join(' '));
  if (!name) return undefined;
  const key = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/ (?:inc|ltd|llc|gmbh|co)$/, '')
    .trim();
  return { name, key: key || name, domain };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
