import type { Identity } from '../domain/identity/identity.ts';

/** One element of `details`. The single call has the same nine query parameters. */
export type Detail = Readonly<Record<string, string>>;

/** Everything that a row knows about a person, under the names of the wire. Empty fields are left out. */
export function toDetail(identity: Identity): Detail {
  const fields = {
    first_name: identity.firstName,
    last_name: identity.lastName,
    name: identity.name,
    email: identity.email,
    hashed_email: identity.hashedEmail,
    organization_name: identity.organizationName,
    domain: identity.domain,
    id: identity.personId,
    proflink_url: identity.profileUrl && withScheme(identity.profileUrl),
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** Normalised profile URLs have no scheme; the service expects one. */
function withScheme(profileUrl: string): string {
  return /^https?:/i.test(profileUrl) ? profileUrl : `https://${profileUrl}`;
}
