import { parseDomain, parseEmail, parseHashedEmail } from './values/email-address.ts';
import { identityKeys } from './identity-keys.ts';
import { parseProfileUrl } from './values/profile-url.ts';

/**
 * Reads the argument of a command that suppresses or erases: a person, by one identifier, or everybody of a domain. The
 * key is as `identityKeys` writes it.
 *
 * @param text an address; a profile URL; a hashed address (MD5 or SHA-256 in hexadecimal); `person:` and the service's
 *   id; or `@acme.example`, everybody at that domain and below it
 * @returns undefined for any other text
 */
export function parseSuppressionSubject(text: string) {
  const written = text.trim();
  if (written.startsWith('@')) {
    const domain = parseDomain(written.slice(1));
    return domain === undefined ? undefined : { kind: 'domain' as const, key: `domain:${domain}` };
  }
  const personId = /^person:(\S+)$/.exec(written)?.[1];
  if (personId !== undefined) return { kind: 'person' as const, key: identityKeys({ personId })[0]! };
  const email = parseEmail(written);
  // A shared address (`info@`) without a name suppresses everyone who reads it.
  if (email !== undefined) return { kind: 'email' as const, key: `email:${email}` };
  const hashedEmail = parseHashedEmail(written);
  if (hashedEmail !== undefined) return { kind: 'hash' as const, key: identityKeys({ hashedEmail })[0]! };
  const profileUrl = parseProfileUrl(written);
  if (profileUrl !== undefined) return { kind: 'profile' as const, key: identityKeys({ profileUrl })[0]! };
  return undefined;
}
