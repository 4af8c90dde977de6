import { parseProfileUrl } from '../identity/values/profile-url.ts';
import { withoutPersonalData } from './without-personal-data.ts';

/** A pattern of SQL for all addresses of a domain, such as `%@acme.example`, names no person. */
const anyAddress = /(?<![^\s'"])%@/g;

/**
 * Whether a text has an e-mail address, a profile URL, a phone number or a login. An erasure does not change texts that
 * the warehouse keeps or Temporal shows, so they must not name a person.
 */
export function namesPerson(text: string): boolean {
  const named = text.replace(anyAddress, '');
  return (
    withoutPersonalData(named) !== named ||
    named.split(/[\s'"<>(),;=]+/).some((word) => parseProfileUrl(word) !== undefined)
  );
}
