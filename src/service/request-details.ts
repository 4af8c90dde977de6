import type { Identity } from '../domain/identity/identity.ts';

/** One element of `details`. The single call has the same nine query parameters. */
export interface Detail {
  readonly first_name?: string;
  readonly last_name?: string;
  readonly name?: string;
  readonly email?: string;
  readonly hashed_email?: string;
  readonly organization_name?: string;
  readonly domain?: string;
  readonly id?: string;
  readonly proflink_url?: string;
}

/** Everything that a row knows about a person, under the names of the wire. Empty fields are left out. */
export function toDetail(identity: Identity): Detail {
  return present({
    first_name: identity.firstName,
    last_name: identity.lastName,
    name: identity.name,
    email: identity.email,
    hashed_email: identity.hashedEmail,
    organization_name: identity.organizationName,
    domain: identity.domain,
    id: identity.personId,
    // Profile URLs are stored without their scheme; the service expects one.
    proflink_url: identity.profileUrl === undefined ? undefined : `https://${identity.profileUrl}`,
  });
}

function present(fields: { readonly [Name in keyof Detail]: string | undefined }): Detail {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  );
}
