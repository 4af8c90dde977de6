import { parseDomain, parseEmail, parseHashedEmail } from './values/email-address.ts';
import { identityKeys } from './identity-keys.ts';
import { parseProfileUrl } from './values/profile-url.ts';

/**
 * Reads one identifier of a person, or a domain, as a key like those of `identityKeys`; undefined for any other text.
 *
 * @param text an e-mail; a profile URL; an MD5 or SHA-256 of an e-mail; `person:` and the service's id; or
 *   `@acme.example` for this domain and its subdomains
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
  // A shared mailbox (`info@`) is accepted without a name and suppresses everyone who uses it.
  if (email !== undefined) return { kind: 'email' as const, key: `email:${email}` };
  const hashedEmail = parseHashedEmail(written);
  if (hashedEmail !== undefined) return { kind: 'hash' as const, key: identityKeys({ hashedEmail })[0]! };
  const profileUrl = parseProfileUrl(written);
  if (profileUrl !== undefined) return { kind: 'profile' as const, key: identityKeys({ profileUrl })[0]! };
  return undefined;
}
